/**
 * The OpenAPI 3.1 description of the service, made from the table of routes and the schemas that validate.
 */
import * as z from 'zod'
import type { Json } from '../json.ts'
import { sessionEvent, watchEvents } from './events.ts'
import { EXAMPLES, type RouteExample } from './examples.ts'
import { COMPONENTS } from './primitives.ts'
import { PROBLEM_MEDIA_TYPE, PROBLEMS, type ProblemCode } from './problems.ts'
import { problemsOf, ROUTE_IDS, ROUTES, type Route, type RouteAnswer, type RouteId, TAGS } from './routes.ts'
import { sessionMessage } from './session.ts'

type Fields = { [field: string]: Json }
export type JsonSchema = { readonly [keyword: string]: Json }

export interface OpenApiParameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly description?: string
  readonly schema: JsonSchema
  readonly example?: string
}

export interface OpenApiOperation {
  readonly operationId: RouteId
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly parameters: readonly OpenApiParameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: JsonSchema }
  readonly responses: { readonly [status: string]: Json }
  readonly security: Json
}

export interface OpenApiDocument {
  readonly openapi: '3.1.0'
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: { readonly [path: string]: { readonly [method: string]: OpenApiOperation } }
  readonly components: {
    readonly schemas: { readonly [id: string]: JsonSchema }
    readonly securitySchemes: Json
  }
}

/** Of the package: a test compares them. The version of the interface is the `v1` in its paths. */
export const VERSION = '0.1.0'
const reference = (id: string): string => `#/components/schemas/${id}`

/** `base` is the path below which the service is mounted. */
export function describeApi(base: string): OpenApiDocument {
  const paths: { [path: string]: { [method: string]: OpenApiOperation } } = {}
  for (const id of ROUTE_IDS) {
    const route: Route = ROUTES[id]
    paths[route.path] = { ...paths[route.path], [route.method]: describeRoute(id, route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Baton',
      version: VERSION,
      description:
        'A named lock together with the state it guards, replicated on Durable Objects in several regions.',
    },
    servers: [{ url: base === '' ? '/' : base }],
    tags: Object.values(TAGS).map(({ title, description }) => ({ name: title, description })),
    paths,
    components: {
      schemas: describeComponents(),
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description: 'A key that BATON_KEYS lists. An open service asks for none.',
        },
      },
    },
  }
}

function describeComponents(): { [id: string]: JsonSchema } {
  const { schemas } = z.toJSONSchema(COMPONENTS, { uri: reference, io: 'input' })
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, withoutAddress(schema)]))
}

/** In OpenAPI the place of a schema is its address. */
function withoutAddress(schema: object): JsonSchema {
  const { $schema: _, $id: __, '~standard': ___, ...rest } = schema as Fields
  return rest
}

function describeRoute(id: RouteId, route: Route): OpenApiOperation {
  const { summary, description, verb, body, tag } = route
  const example = EXAMPLES[id]
  const optional = body?.safeParse({}).success === true
  return {
    operationId: id,
    tags: [TAGS[tag].title],
    summary,
    ...(description !== undefined && { description }),
    parameters: [
      ...describeParameters('path', route.parameters, example.parameters ?? {}),
      ...describeParameters('query', route.query, example.query ?? {}),
    ],
    ...(body !== null && {
      requestBody: {
        required: !optional,
        content: {
          'application/json': {
            schema: refer(body),
            ...(example.body !== undefined && { example: example.body }),
          },
        },
      },
    }),
    responses: withExample(
      { ...describeAnswers(route.answers), ...describeProblems(problemsOf(route)) },
      example,
    ),
    security: verb === null ? [] : [{ key: [] }],
    ...STREAMS[id],
  }
}

/**
 * What goes over a connection that stays open. OpenAPI has no words for it, so these are extensions of ours.
 */
const STREAMS: { readonly [id in RouteId]?: Fields } = {
  session: { 'x-messages': { client: refer(sessionMessage), service: refer(sessionEvent) } },
  watch: {
    'x-events': Object.fromEntries(
      Object.entries(watchEvents).map(([name, schema]) => [name, refer(schema)]),
    ),
  },
}

function describeParameters(
  place: 'path' | 'query',
  schema: z.ZodObject,
  examples: { readonly [name: string]: string },
): OpenApiParameter[] {
  return Object.entries(schema.shape).map(([name, parameter]) => {
    const { description, ...rest } = withoutAddress(z.toJSONSchema(parameter as z.ZodType, { io: 'input' }))
    const example = examples[name]
    return {
      name,
      in: place,
      required: place === 'path',
      ...(typeof description === 'string' && { description }),
      schema: rest,
      ...(example !== undefined && { example }),
    }
  })
}

function describeAnswers(answers: Route['answers']): Fields {
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]: [string, RouteAnswer]) => {
      const { description, schema, mediaType, headers } = answer
      const content: Fields = {}
      if (schema !== undefined) content['application/json'] = { schema: refer(schema) }
      if (mediaType !== undefined) content[mediaType] = { schema: { type: 'string' } }
      return [
        status,
        {
          description,
          ...(Object.keys(content).length > 0 && { content }),
          ...(headers !== undefined && { headers: describeHeaders(headers) }),
        },
      ]
    }),
  )
}

/** The answer of the example, with its status. */
function withExample(responses: Fields, { status, answer, text }: RouteExample): Fields {
  const example = answer ?? text
  const described = responses[status] as { readonly content?: { readonly [mediaType: string]: Fields } }
  if (example === undefined || described.content === undefined) return responses
  const isIt = (mediaType: string) => /json$/.test(mediaType) === (answer !== undefined)
  const content = Object.fromEntries(
    Object.entries(described.content).map(([mediaType, one]) => [
      mediaType,
      isIt(mediaType) ? { ...one, example } : one,
    ]),
  )
  return { ...responses, [status]: { ...described, content } }
}

function describeHeaders(headers: { readonly [name: string]: string }): Fields {
  const schema = { type: 'string' }
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema }]),
  )
}

/** Several problems can have one status. */
function describeProblems(codes: readonly ProblemCode[]): Fields {
  const byStatus = new Map<number, ProblemCode[]>()
  for (const code of codes) {
    const { status } = PROBLEMS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return Object.fromEntries(
    [...byStatus].map(([status, those]) => {
      const schema = { allOf: [{ $ref: reference('Problem') }, { properties: { code: { enum: those } } }] }
      const comesBack = status === 429 || status === 503
      return [
        String(status),
        {
          description: those.map(code => `${code}: ${PROBLEMS[code].title}`).join('. '),
          content: { [PROBLEM_MEDIA_TYPE]: { schema } },
          ...(comesBack && { headers: describeHeaders({ 'Retry-After': 'Seconds.' }) }),
        },
      ]
    }),
  )
}

function refer(schema: z.ZodType): JsonSchema {
  const id = COMPONENTS.get(schema)?.id
  if (id === undefined) throw new Error('a schema of a route needs a name, see `component`')
  return { $ref: reference(id) }
}
