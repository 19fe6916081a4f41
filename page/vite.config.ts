/** How the page is built. worker/local/build-page.ts runs it and writes the files. */
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const root = fileURLToPath(new URL('.', import.meta.url))

export default defineConfig({
  root,
  resolve: { alias: { './node-web-socket.ts': `${root}no-node.ts` } },
  // The service may be mounted below any path: nothing in the page names it.
  base: './',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    // The policy of the page allows no data in place of a file but images.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
})
