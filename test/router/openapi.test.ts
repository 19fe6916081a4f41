/** The description: complete, whole, and a page that needs nothing else. */

import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { describeApi, type OpenApiOperation } from '../../shared/api/openapi.ts'
import { COMPONENTS } from '../../shared/api/primitives.ts'
import { PROBLEM_CODES } from '../../shared/api/problems.ts'
import { ROUTE_IDS, ROUTES } from '../../shared/api/routes.ts'
import type { Json } from '../../shared/json.ts'
import { createHarness } from './fake.ts'

const document = describeApi('')

/** Everything that stands in it, with the path to it. */
function* walk(value: Json, path = '#'): Generator<readonly [string, Json]> {
  yield [path, value]
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value as { [name: string]: Json }))
    yield* walk(inner, `${path}/${name}`)
}

describe('/openapi.json', () => {
  it('is what the router serves', async () => {
    const response = await createHarness().send('GET', '/openapi.json')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(document)))
  })

  it('has no pattern that a validator has to read in a mode of its own', () => {
    const patterns = [...walk(document as unknown as Json)].filter(([path]) => path.endsWith('/pattern'))
    expect(patterns.length).toBeGreaterThan(5)
    for (const [path, pattern] of patterns) {
      expect(pattern, path).not.toMatch(/\\p/i)
      for (const flags of ['', 'u']) expect(() => new RegExp(pattern as string, flags), path).not.toThrow()
    }
  })

  it('has every route once', () => {
    const ids = Object.values(document.paths).flatMap(methods =>
      Object.values(methods).map(one => one.operationId),
    )
    expect(ids.sort()).toEqual([...ROUTE_IDS].sort())
    for (const id of ROUTE_IDS)
      expect(document.paths[ROUTES[id].path]?.[ROUTES[id].method]?.operationId).toBe(id)
  })

  it('has the calls of the contract', () => {
    const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
    )
    expect(calls).toEqual(
      expect.arrayContaining([
        'PUT /v1/locks/{lock}',
        'GET /v1/locks/{lock}',
        'POST /v1/locks/{lock}/acquire',
        'GET /v1/locks/{lock}/tickets/{id}',
        'DELETE /v1/locks/{lock}/tickets/{id}',
        'POST /v1/locks/{lock}/grants/{id}/ops',
        'POST /v1/locks/{lock}/grants/{id}/keepalive',
        'DELETE /v1/locks/{lock}/grants/{id}',
        'POST /v1/locks/{lock}/transact',
        'GET /v1/locks/{lock}/state/{key}',
        'GET /v1/locks/{lock}/state',
        'GET /v1/locks/{lock}/watch',
        'GET /v1/locks/{lock}/session',
        'GET /v1/locks/{lock}/history',
        'POST /v1/locks/{lock}/eject',
        'POST /v1/locks/{lock}/participants',
        'GET /healthz',
        'GET /metrics',
      ]),
    )
  })

  it('refers to nothing that is not there', () => {
    const references = [...walk(document as unknown as Json)].filter(([path]) => path.endsWith('/$ref'))
    expect(references.length).toBeGreaterThan(50)
    for (const [path, target] of references) {
      const id = /^#\/components\/schemas\/(\w+)$/.exec(String(target))?.[1]
      expect(document.components.schemas, path).toHaveProperty(id ?? 'no id')
    }
  })

  it('describes every parameter of a path, and an answer that is good', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1])
      for (const operation of Object.values(methods) as OpenApiOperation[]) {
        const described = operation.parameters.filter(parameter => parameter.in === 'path')
        expect(described.map(({ name }) => name)).toEqual(names)
        expect(described.every(({ required }) => required)).toBe(true)
        expect(Object.keys(operation.responses).some(status => status < '300')).toBe(true)
        expect(operation.responses).toHaveProperty('500')
      }
    }
  })

  it('has every problem of the table somewhere', () => {
    const text = JSON.stringify(document.paths)
    const elsewhere = ['no_such_route', 'method_not_allowed']
    for (const code of PROBLEM_CODES.filter(one => !elsewhere.includes(one)))
      expect(text).toContain(`"${code}"`)
  })

  it('has schemas that zod itself understands', () => {
    for (const [id, schema] of Object.entries(document.components.schemas)) {
      const inlined = { ...schema, $defs: document.components.schemas } as Parameters<
        typeof z.fromJSONSchema
      >[0]
      const local = JSON.parse(JSON.stringify(inlined).replaceAll('#/components/schemas/', '#/$defs/'))
      expect(() => z.fromJSONSchema(local), id).not.toThrow()
    }
  })

  it('says no of what the schemas refuse', () => {
    const local = JSON.parse(
      JSON.stringify({ ...document.components.schemas.Acquire, $defs: {} }).replaceAll(
        '#/components/schemas/',
        '#/$defs/',
      ),
    )
    const schema = z.fromJSONSchema(local)
    expect(schema.safeParse({ waitMs: 5 }).success).toBe(true)
    expect(schema.safeParse({}).success).toBe(true)
    for (const bad of [{ waitms: 5 }, { waitMs: 25_001 }, { mode: 'both' }])
      expect(schema.safeParse(bad).success).toBe(false)
  })
})

it('every named schema has a name of its own', () => {
  const { schemas } = z.toJSONSchema(COMPONENTS)
  expect(Object.keys(schemas).sort()).toEqual(Object.keys(document.components.schemas).sort())
})

describe('/docs', () => {
  it('is a page with every route, problem, limit and schema', async () => {
    const response = await createHarness().send('GET', '/docs')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=UTF-8')
    const page = await response.text()
    for (const id of ROUTE_IDS) {
      expect(page).toContain(`<section id="${id}">`)
      expect(page).toContain(`<code>${ROUTES[id].path}</code>`)
    }
    for (const code of PROBLEM_CODES) expect(page).toContain(`id="problem-${code}"`)
    for (const id of Object.keys(document.components.schemas)) expect(page).toContain(`id="schema-${id}"`)
    expect(page).toContain('<code class="name">waitMs?</code>')
    expect(page).not.toContain('undefined')
    expect(page).not.toContain('[object')
  })

  it('has links that lead somewhere, and needs nothing from elsewhere', async () => {
    const served = await (await createHarness().send('GET', '/docs')).text()
    // The icon is in the page.
    const page = served.replace(/<link rel="icon" href="data:[^"]*">/, '')
    const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(match => match[1]))
    const links = [...page.matchAll(/ href="([^"]+)"/g)].map(match => match[1]!)
    for (const link of links) if (link !== 'openapi.json') expect(ids).toContain(link.slice(1))
    // Addresses that are only read stand in code.
    const rest = page.replaceAll(/<code>[^<]*<\/code>/g, '')
    expect(rest).not.toMatch(/<script|<link|<img|src=|https?:|@import|url\(|style="/)
  })

  it('has a style that its policy allows, with a nonce that is used once', async () => {
    const { send } = createHarness()
    const nonceOf = async () => {
      const response = await send('GET', '/docs')
      const policy = response.headers.get('content-security-policy')
      const nonce = /style-src 'nonce-([^']+)'/.exec(policy!)?.[1]
      expect(policy).toContain("default-src 'none'")
      expect(await response.text()).toContain(`<style nonce="${nonce}">`)
      return nonce
    }
    expect(await nonceOf()).not.toBe(await nonceOf())
  })
})
