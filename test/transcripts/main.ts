/** `npm run transcripts` prints the golden transcripts, or the named ones; `--write` rewrites their files. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FOLDER } from './folder.ts'
import { scenes, transcriptOf } from './scenes.ts'

const names = process.argv.slice(2).filter(argument => argument !== '--write')
const isWriting = process.argv.includes('--write')
const unknown = names.filter(name => !scenes.some(scene => scene.file === name))
if (unknown.length > 0) {
  console.error(`There is no transcript ${unknown.join(', ')}.`)
  process.exit(1)
}

for (const scene of scenes) {
  if (names.length > 0 && !names.includes(scene.file)) continue
  const text = transcriptOf(scene)
  if (isWriting) writeFileSync(join(FOLDER, `${scene.file}.txt`), text)
  else console.log(text)
}
