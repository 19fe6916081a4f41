/**
 * The OpenAPI 3.1 description of the service, made from the table of routes and the schemas that validate.
 */
import * as z from 'zod'
import type { Json } from '../json.ts'
import { COMPONENTS } from './primitives.ts'
import { PROBLEM_MEDIA_TYPE, PROBLEMS, type ProblemCode } from './problems.ts'
// For the schema of what a session's client says: no body has it.
import './session.ts'
import { problemsOf, ROUTE_IDS, ROUTES, type Route, type RouteAnswer } from './routes.ts'

type Fields = { [field: string]: Json }
export type JsonSchema = { readonly [keyword: string]: Json }

export interface OpenApiParameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly required: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

export interface OpenApiOperation {
  readonly operationId: string
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
  readonly paths: { readonly [path: string]: { readonly [method: string]: OpenApiOperation } }
  readonly components: {
    readonly schemas: { readonly [id: string]: JsonSchema }
    readonly securitySchemes: Json
  }
}

export const API_VERSION = '1.0.0'
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
      version: API_VERSION,
      description:
        'A named lock together with the state it guards, replicated on Durable Objects in several regions.',
    },
    servers: [{ url: base === '' ? '/' : base }],
    paths,
    components: {
      schemas: describeComponents(),
      securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'A key of BATON_KEYS.' } },
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

function describeRoute(id: string, route: Route): OpenApiOperation {
  const { summary, description, verb, body } = route
  const optional = body?.safeParse({}).success === true
  return {
    operationId: id,
    summary,
    ...(description !== undefined && { description }),
    parameters: [
      ...describeParameters('path', route.parameters),
      ...describeParameters('query', route.query),
    ],
    ...(body !== null && {
      requestBody: { required: !optional, content: { 'application/json': { schema: refer(body) } } },
    }),
    responses: { ...describeAnswers(route.answers), ...describeProblems(problemsOf(route)) },
    security: verb === null ? [] : [{ key: [] }],
  }
}

function describeParameters(place: 'path' | 'query', schema: z.ZodObject): OpenApiParameter[] {
  return Object.entries(schema.shape).map(([name, parameter]) => {
    const { description, ...rest } = withoutAddress(z.toJSONSchema(parameter as z.ZodType, { io: 'input' }))
    return {
      name,
      in: place,
      required: place === 'path',
      ...(typeof description === 'string' && { description }),
      schema: rest,
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
