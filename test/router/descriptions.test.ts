/** What is described is described in full: every field says what it is, and every example fits its call. */
import { describe, expect, it } from 'vitest'
import { EXAMPLES } from '../../shared/api/examples.ts'
import { describeApi, type JsonSchema } from '../../shared/api/openapi.ts'
import { problemsOf, ROUTE_IDS, ROUTES, type Route, TAGS } from '../../shared/api/routes.ts'
import { createHarness } from './fake.ts'

const document = describeApi('')
const { schemas } = document.components

/** The fields of a schema and of those inside it, each with the path to it. */
function* fieldsIn(schema: JsonSchema, path: string): Generator<readonly [path: string, field: JsonSchema]> {
  for (const [name, field] of Object.entries((schema.properties ?? {}) as { [name: string]: JsonSchema })) {
    yield [`${path}.${name}`, field]
    yield* fieldsIn(field, `${path}.${name}`)
  }
  for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const)
    for (const inner of (schema[keyword] ?? []) as readonly JsonSchema[]) yield* fieldsIn(inner, path)
  if (schema.items !== undefined) yield* fieldsIn(schema.items as JsonSchema, path)
}

/** A constant says what it is, and so does the name of a schema. */
const needsNoWords = (field: JsonSchema) => field.const !== undefined || field.$ref !== undefined

describe('every field', () => {
  it.each(Object.keys(schemas))('of %s has a description', id => {
    for (const [path, field] of fieldsIn(schemas[id]!, id))
      if (!needsNoWords(field)) expect(field.description, path).toMatch(/^\S.*\.$/s)
  })

  it('of a path or a query has a description', () => {
    for (const methods of Object.values(document.paths))
      for (const { operationId, parameters } of Object.values(methods))
        for (const { name, description } of parameters)
          expect(description, `${operationId} ${name}`).toMatch(/^\S.*\.$/s)
  })
})

describe('every call', () => {
  it.each(ROUTE_IDS)('%s has a tag that is described, and a summary without a full stop', id => {
    const { path, method } = ROUTES[id]
    const { tags, summary } = document.paths[path]![method]!
    expect(document.tags.map(({ name }) => name)).toContain(tags[0])
    expect(summary).toMatch(/^[A-Z].*[^.]$/)
  })

  it('comes in the order of the tags', () => {
    const order = Object.keys(TAGS)
    const places = ROUTE_IDS.map(id => order.indexOf(ROUTES[id].tag))
    expect(places).toEqual([...places].sort((left, right) => left - right))
  })

  it.each(ROUTE_IDS)('%s has an example that its schemas take', id => {
    const route: Route = ROUTES[id]
    const { body, status, answer } = EXAMPLES[id]
    if (route.body !== null) expect(route.body.safeParse(body).success).toBe(true)
    const isGood = route.answers[status] !== undefined
    if (!isGood) expect(problemsOf(route)).toContain((answer as { readonly code: string }).code)
    const schema = route.answers[status]?.schema
    if (schema !== undefined) expect(schema.safeParse(answer).error).toBeUndefined()
    const described = document.paths[route.path]![route.method]!
    if (answer !== undefined)
      expect(JSON.stringify(described.responses[status])).toContain(JSON.stringify(answer))
    if (body !== undefined) expect(JSON.stringify(described.requestBody)).toContain(JSON.stringify(body))
  })
})

it('OpenAPI names what sessions and watches carry', () => {
  expect(document.paths['/v1/locks/{lock}/session']!.get).toMatchObject({
    'x-messages': {
      client: { $ref: '#/components/schemas/SessionMessage' },
      service: { $ref: '#/components/schemas/SessionEvent' },
    },
  })
  expect(document.paths['/v1/locks/{lock}/watch']!.get).toMatchObject({
    'x-events': { op: {}, holder: {}, snapshot: {} },
  })
  expect(schemas.Grant).toMatchObject({ required: expect.arrayContaining(['ttlMs']) })
})

describe('/docs', () => {
  const pageOf = async (options = {}) => (await createHarness(options).send('GET', '/docs')).text()

  it('has for each call one curl line and one answer, in the order of use', async () => {
    const page = await pageOf()
    const sections = page.split(/(?=<section id=")/).slice(1, ROUTE_IDS.length + 1)
    expect(sections.map(section => /^<section id="(\w+)"/.exec(section)![1])).toEqual(ROUTE_IDS)
    for (const section of sections) {
      expect(section.match(/<pre class="curl"><code>curl /g)).toHaveLength(1)
      expect(section.match(/<pre class="answer"><b>\d+<\/b>/g)).toHaveLength(1)
    }
  })

  it('has descriptions and defaults', async () => {
    const page = await pageOf()
    expect(page).toContain('<code>0..25000</code>, default <code>10000</code>')
    expect(page).toContain('How long to wait for the lock.')
  })

  it('asks for a key in the examples if the service does', async () => {
    expect(await pageOf()).not.toContain('$BATON_KEY')
    expect(await pageOf({ keys: undefined })).toContain('-H &quot;authorization: Bearer $BATON_KEY&quot;')
  })
})
