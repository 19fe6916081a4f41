/**
 * The service as one module for workerd. In the repository it is bundled from its source, in the published
 * package it was bundled when that was built.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** Paths from the root of the repository, and from that of `dist`. */
export const SERVICE_BUNDLES = {
  service: { source: 'worker/index.ts', bundled: 'worker/service.mjs' },
  testing: { source: 'testing/service.ts', bundled: 'testing/service.mjs' },
} as const

export async function serviceScript(name: keyof typeof SERVICE_BUNDLES = 'service'): Promise<string> {
  const { source, bundled } = SERVICE_BUNDLES[name]
  const ready = pathOf(bundled)
  if (existsSync(ready)) return readFile(ready, 'utf8')
  const { bundle } = await import('./build.ts')
  return bundle(pathOf(source))
}

const pathOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
