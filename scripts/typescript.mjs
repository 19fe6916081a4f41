/**
 * `node --import ./scripts/typescript.mjs some/file.ts` runs TypeScript on any Node from 20 on: the
 * dependencies are installed if they are missing, and where Node itself cannot strip types, esbuild does it
 * file by file. Worker threads inherit the flag.
 */
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'
import { installIfMissing } from './install-if-missing.mjs'

if (isMainThread) installIfMissing()
// `strip` where Node runs `.ts` files by itself.
if (!process.features.typescript) {
  register('./typescript-hooks.mjs', import.meta.url)
  process.setSourceMapsEnabled(true)
}
