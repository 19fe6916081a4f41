/** `npm run transcripts` prints the golden transcripts, or rewrites their files. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseOptions, UsageError } from '../../cli/arguments.ts'
import { optionsOrExit } from '../tools/options-or-exit.ts'
import { FOLDER } from './folder.ts'
import { type Scene, scenes, transcriptOf } from './scenes.ts'

const HELP = `npm run transcripts -- [options]
  --only NAMES   only these, separated by commas, such as figure-1-normal-phase
  --write        rewrite the files in docs/transcripts instead of printing`

const OPTIONS = {
  only: { type: 'string' },
  write: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

const { chosen, write, help } = optionsOrExit('transcripts', () => {
  const { values } = parseOptions(process.argv.slice(2), OPTIONS)
  return { chosen: scenesNamed(values.only), write: values.write, help: values.help }
})

function scenesNamed(only: string | undefined): readonly Scene[] {
  if (only === undefined) return scenes
  const names = only.split(',')
  const unknown = names.filter(name => !scenes.some(scene => scene.file === name))
  if (unknown.length > 0) throw new UsageError(`there is no transcript ${unknown.join(', ')}`)
  return scenes.filter(scene => names.includes(scene.file))
}

if (help) console.log(HELP)
else {
  for (const scene of chosen) {
    const text = transcriptOf(scene)
    if (write) writeFileSync(join(FOLDER, `${scene.file}.txt`), text)
    else console.log(text)
  }
}
