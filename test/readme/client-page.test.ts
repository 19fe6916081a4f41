/** The code of docs/client.md does what the page says: each block is run, against a service in memory. */
import { stripTypeScriptTypes } from 'node:module'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import * as client from '../../client/index.ts'
import { createFakeServer } from '../client/fake-server.ts'
import { blocksOf, pageAt } from './markdown.ts'

const blocks = blocksOf(pageAt('docs/client.md').text).filter(({ language }) => language === 'ts')

const IMPORT = /^import (?:\* as (\w+)|\{([^}]*)\}) from '([^']+)'$/gm

/** As a function of what it imports, and of `fetch`. */
function functionOf(text: string): (modules: object, fetch: unknown, tracer: unknown) => Promise<unknown> {
  const body = text
    .replaceAll(/^declare .*$/gm, '')
    .replaceAll(IMPORT, (_, all, some: string, from: string) => {
      const values = some?.split(',').filter(name => !name.trim().startsWith('type '))
      return `const ${all ?? `{${values}}`} = modules.${from === 'zod' ? 'zod' : 'client'}`
    })
  const AsyncFunction = (async () => {}).constructor as new (...parts: string[]) => never
  return new AsyncFunction('modules', 'fetch', 'tracer', stripTypeScriptTypes(body))
}

describe('docs/client.md', () => {
  it('has code', () => {
    expect(blocks.length).toBeGreaterThan(7)
  })

  it.each(blocks.map(block => [block.line, block.text] as const))('line %i runs', async (_, text) => {
    const server = createFakeServer({ clock: client.systemClock })
    const createBaton = (options: client.BatonOptions) =>
      client.createBaton({ ...options, fetch: server.fetch, binding: undefined } as client.BatonOptions)
    const spans: string[] = []
    const span = { setAttributes() {}, recordException() {}, setStatus() {}, end() {} }
    const tracer = {
      startActiveSpan: (name: string, _: unknown, run: (given: typeof span) => unknown) => {
        spans.push(name)
        return run(span)
      },
    }
    const modules = { client: { ...client, createBaton }, zod: z }
    await functionOf(text)(modules, async () => new Response(), tracer)
    if (text.includes('Tracer')) expect(spans).toEqual(['baton.transact'])
  })
})
