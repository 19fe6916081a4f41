/**
 * `npm run pictures` writes the pictures beside this file. A test holds that they are what this code draws.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PICTURES } from './all.ts'

for (const [file, draw] of Object.entries(PICTURES)) writeFileSync(join(import.meta.dirname, file), draw())
console.log(`${Object.keys(PICTURES).length} pictures are written to docs/pictures/`)
