/** Bundles a Worker's entry into one module that workerd runs as it is. */
import { build } from 'esbuild'

export async function bundle(entry: string): Promise<string> {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*', 'node:*'],
    write: false,
    logLevel: 'error',
  })
  return result.outputFiles[0]!.text
}
