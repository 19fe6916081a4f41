/** `npm run regions`: how long calls take between regions, per protocol, placement and kind of work. */
import { writeFile } from 'node:fs/promises'
import { parseOptions, UsageError } from '../../cli/arguments.ts'
import { optionsOrExit } from '../../test/tools/options-or-exit.ts'
import { chart } from './chart.ts'
import { measureAll, PLACEMENTS, SAMPLES } from './measure.ts'
import { page } from './report.ts'
import { type Conditions, DEFAULT_CONDITIONS } from './world.ts'

const OPTIONS = {
  seed: { type: 'string' },
  samples: { type: 'string' },
  near: { type: 'string' },
  disk: { type: 'string' },
  write: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

const HELP = `npm run regions -- [options]

  --seed N       the seed of everything that is random. Default: ${DEFAULT_CONDITIONS.seed}
  --samples N    calls behind each distribution. Default: ${SAMPLES}
  --near MS      the round trip within one city. Default: ${DEFAULT_CONDITIONS.nearMs}
  --disk MS      how long a write takes. Default: ${DEFAULT_CONDITIONS.diskMs}
  --json         print JSON instead of the page
  --write        write docs/regions.md, docs/regions.svg and docs/regions.json`

function number(name: string, value: string | undefined, least: number, otherwise: number): number {
  if (value === undefined) return otherwise
  const read = Number(value)
  if (!Number.isFinite(read) || read < least)
    throw new UsageError(`--${name} is a number of at least ${least}`)
  return read
}

const { options, conditions, samples } = optionsOrExit('regions', () => {
  const { values } = parseOptions(process.argv.slice(2), OPTIONS)
  const read: Conditions = {
    ...DEFAULT_CONDITIONS,
    seed: Math.floor(number('seed', values.seed, 0, DEFAULT_CONDITIONS.seed)),
    nearMs: number('near', values.near, 0, DEFAULT_CONDITIONS.nearMs),
    diskMs: number('disk', values.disk, 0, DEFAULT_CONDITIONS.diskMs),
  }
  return {
    options: values,
    conditions: read,
    samples: Math.floor(number('samples', values.samples, 1, SAMPLES)),
  }
})

if (options.help) {
  console.log(HELP)
} else {
  const rows = measureAll({ conditions, samples, placements: PLACEMENTS })
  const measurements = { conditions, samples, rows }
  // One row for each line: a change shows where it is.
  const json = `${JSON.stringify({ conditions, samples })!.slice(0, -1)},"rows":[\n${rows
    .map(row => JSON.stringify(row))
    .join(',\n')}\n]}\n`
  if (options.write) {
    const write = (file: string, content: string) =>
      writeFile(new URL(`../../docs/${file}`, import.meta.url), content)
    await write('regions.md', page(measurements))
    await write('regions.svg', chart(measurements))
    await write('regions.json', json)
  }
  process.stdout.write(options.json ? json : page(measurements))
}
