import { fileURLToPath, pathToFileURL } from 'node:url'
import { defineConfig } from 'vitest/config'

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  // `await using` is not known to Node 20.
  oxc: { target: 'es2022' },
  resolve: {
    // The package by its own name, as in tsconfig.json.
    alias: [
      { find: /^@baton-lock\/baton$/, replacement: fileOf('worker/library.ts') },
      { find: '@baton-lock/baton/client', replacement: fileOf('client/index.ts') },
      { find: '@baton-lock/baton/resource', replacement: fileOf('shared/resource/define.ts') },
      { find: '@baton-lock/baton/recipes', replacement: fileOf('recipes/index.ts') },
      { find: '@baton-lock/baton/testing', replacement: fileOf('testing/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 120_000,
    // A process that starts on a busy machine may take its time, too.
    hookTimeout: 120_000,
    maxWorkers: 2,
    // For the tools that tests start: Node 20 cannot run their TypeScript by itself.
    env: { NODE_OPTIONS: `--import=${pathToFileURL(fileOf('scripts/typescript.mjs'))}` },
  },
})
