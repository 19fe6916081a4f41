/**
 * Every tool with options of its own refuses wrong ones in one sentence, without a stack trace, with status
 * 2.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

it.each([
  ['sim', 'test/simulator/main.ts --nonsense', 'unknown option --nonsense'],
  ['sim', 'test/simulator/main.ts --seed 7', 'unknown option --seed; did you mean --seeds?'],
  ['sim', 'test/simulator/main.ts --birth --seeds many', "--seeds is a whole number from 1, not 'many'"],
  ['chaos', 'test/chaos/main.ts --participants 9', "--participants is a whole number from 3 to 7, not '9'"],
  ['chaos', 'test/chaos/main.ts --faults flood', '--faults: there is no flood'],
  ['chaos', 'test/chaos/main.ts --minutes soon', '--minutes is a number above 0'],
  ['fuzz', 'test/fuzz/main.ts --requests', '--requests needs a value'],
  ['mutants', 'test/mutants/main.ts --only nobody', '--only: there is no such mutant: nobody'],
  ['bench', 'bench/main.ts --rounds --json', '--rounds needs a value, and --json is an option'],
  [
    'bench',
    'bench/main.ts --only speed,luck',
    '--only: there is no luck; parts are speed, protocols, processes, disk, rows, profile, layers, failover, growth',
  ],
  ['profile', 'bench/profile/main.ts --repeats none', "--repeats is a whole number from 1, not 'none'"],
  ['count', 'bench/count/main.ts --wakings 0', "--wakings is a whole number from 1, not '0'"],
  ['tables', 'bench/tables/main.ts --json=yes', '--json takes no value'],
])('npm run %s: %s', (script, line, message) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, line.split(' '), {
    cwd: ROOT,
    encoding: 'utf8',
  })
  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: '',
    stderr: `${message}\nTry: npm run ${script} -- --help\n`,
  })
})
