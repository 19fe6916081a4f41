/** `baton export <lock>`: everything that counts of a lock, to keep or to take elsewhere. */
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { Refusal } from '../explain.ts'

export const exportLock = defineCommand({
  name: 'export',
  words: ['<lock>'],
  summary: 'save a lock: its state, its results and its fences',
  description: `Prints one JSON document with everything that counts of the lock, at one point, for \`baton import\`. To
move a lock, let nobody use it any more, export it, import it, and then delete the old one.`,
  options: {
    output: {
      type: 'string',
      value: '<file>',
      help: 'write it into this file, which only you can read, instead of printing it',
    },
  },
  examples: ['baton export orders > orders.json', 'baton export orders --output orders.json'],
  async run({ lock, output, signals }, { options, words }) {
    const [name] = words as [string]
    const exported = await lock(name).export({ signal: signals.signal })
    const text = JSON.stringify(exported)
    if (options.output === undefined) output.line(text)
    else {
      save(options.output, `${text}\n`)
      const bytes = Buffer.byteLength(text) + 1
      output.result({ lock: name, file: options.output, bytes }, [`${name} is saved in ${options.output}`])
    }
    return EXIT.done
  },
})

/** Beside it first, so that a file that was there stays whole if anything goes wrong. */
function save(path: string, text: string): void {
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' })
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw new Refusal('file', `cannot write '${path}': ${(error as Error).message}`)
  }
}
