/**
 * `npm run mutants`: each mutant is one small edit of the source that brings a bug back, at least one for
 * each trap. The simulator, the explorer or the suites must notice each of them. Without a mutant they must
 * all pass, or their verdicts mean nothing.
 */
import { parseOptions, UsageError } from '../../cli/arguments.ts'
import { integerOf } from '../../cli/values.ts'
import { optionsOrExit } from '../tools/options-or-exit.ts'
import { type Mutant, mutants, SUBJECTS, type Subject, subjectOf } from './catalogue.ts'
import { Copy } from './copy.ts'
import { type Killer, killersOf, runKiller, suitesOf } from './killers.ts'
import { LastKillers } from './last-killers.ts'
import { likelyKillers } from './likely-killers.ts'

const HELP = `npm run mutants -- [options]
  --seeds N      seeds for each simulation (default 300)
  --only NAMES   only these mutants: protocols, ids or traps, separated by commas
  --workers N    how many at a time (default 2)
  --skip-check   do not check first that the unchanged source survives
  --remember     write down what noticed each mutant, in test/mutants/killed-by.json: a file of tests, or a
                 simulator, which is asked first the next time
  --verbose      show what each killer printed
  --json         print one JSON object: {killed, total, seeds, mutants: [{id, subject, trap, killedBy, how}]}`

/** `R1` of `R1 REPLYs are a set`. */
const ruleOf = ({ trap }: Mutant): string => trap.split(' ')[0]!

interface Result {
  readonly id: string
  readonly subject: Subject
  readonly trap: string
  readonly killedBy: string | null
  /** The test that failed, the killer's name, or that it ran into the time limit. */
  readonly how?: string
  readonly equivalent?: string
}

const OPTIONS = {
  seeds: { type: 'string' },
  only: { type: 'string' },
  workers: { type: 'string' },
  'skip-check': { type: 'boolean' },
  remember: { type: 'boolean' },
  verbose: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

const { seeds, workers, chosen, ...options } = optionsOrExit('mutants', () => {
  const { values } = parseOptions(process.argv.slice(2), OPTIONS)
  return {
    seeds: integerOf('--seeds', values.seeds ?? '300', 1),
    workers: integerOf('--workers', values.workers ?? '2', 1, 64),
    chosen: mutantsNamed(values.only),
    skipCheck: values['skip-check'],
    remember: values.remember,
    verbose: values.verbose,
    json: values.json,
    help: values.help,
  }
})

function mutantsNamed(only: string | undefined): readonly Mutant[] {
  const names = only?.split(',')
  const named = mutants.filter(
    mutant =>
      names === undefined ||
      [mutant.id, mutant.trap, ruleOf(mutant), subjectOf(mutant)].some(name => names.includes(name)),
  )
  if (named.length === 0) throw new UsageError(`--only: there is no such mutant: ${only}`)
  return named
}

if (options.help) {
  console.log(HELP)
  process.exit(0)
}

const say = (line: string) => console.error(line)
const lastKillers = new LastKillers()
const subjects = SUBJECTS.filter(subject => chosen.some(mutant => subjectOf(mutant) === subject))
for (const subject of subjects) {
  const names = killersOf(subject, seeds).map(killer => killer.name)
  const count = chosen.filter(mutant => subjectOf(mutant) === subject).length
  say(`${count} mutants of ${subject}; killers in their order: ${names.join('; ')}`)
}

if (!options.skipCheck) await checkUnchanged()
report(await runAll(chosen))

async function checkUnchanged(): Promise<void> {
  const copy = new Copy()
  for (const killer of subjects.flatMap(subject => killersOf(subject, seeds))) {
    const { killed, output } = await runKiller(copy.folder, killer)
    if (!killed) continue
    copy.remove()
    say(`the unchanged source does not survive: ${killer.name}\n${output}`)
    process.exit(1)
  }
  copy.remove()
  say('the unchanged source survives all of them')
}

async function runAll(queue: readonly Mutant[]): Promise<Result[]> {
  const results: Result[] = []
  const waiting = [...queue]
  const work = async () => {
    const copy = new Copy()
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const result = await judgeMutant(copy, mutant)
      results.push(result)
      if (options.remember) lastKillers.write()
      say(`${results.length}/${queue.length}  ${mutant.id}  ${result.how ?? 'SURVIVED'}  ${mutant.title}`)
    }
    copy.remove()
  }
  await Promise.all(Array.from({ length: workers }, work))
  return results.sort((a, b) => order(a.id) - order(b.id))
}

function order(id: string): number {
  return mutants.findIndex(mutant => mutant.id === id)
}

async function judgeMutant(copy: Copy, mutant: Mutant): Promise<Result> {
  const { id, trap, equivalent } = mutant
  const subject = subjectOf(mutant)
  const file = lastKillers.fileOf(id)
  const killers = killersOf(subject, seeds, file === undefined ? likelyFor(mutant, subject) : [file])
  const isLast = ({ name }: Killer) => name === lastKillers.killerOf(id)
  const undo = copy.apply(mutant)
  try {
    for (const killer of [...killers.filter(isLast), ...killers.filter(one => !isLast(one))]) {
      const { killed, how, output } = await runKiller(copy.folder, killer)
      if (killed) lastKillers.note(id, killer.name, how)
      if (killed && options.verbose) say(output)
      if (killed) return { id, subject, trap, killedBy: killer.name, how }
    }
    return { id, subject, trap, killedBy: null, ...(equivalent === undefined ? {} : { equivalent }) }
  } finally {
    undo()
  }
}

/** And the files that noticed others of the same kind. */
function likelyFor(mutant: Mutant, subject: Subject): string[] {
  const isAlike = ({ file, trap }: Mutant) => file === mutant.file || trap === mutant.trap
  const alike = mutants.filter(isAlike).flatMap(({ id }) => lastKillers.fileOf(id) ?? [])
  return [...new Set([...likelyKillers(mutant, suitesOf(subject)), ...alike])]
}

function report(results: readonly Result[]): void {
  const survivors = results.filter(result => result.killedBy === null)
  const killed = results.length - survivors.length
  for (const { id, equivalent } of survivors)
    say(`survivor ${id}: ${equivalent ?? 'and no reason why it would be equivalent'}`)
  if (options.json) {
    console.log(JSON.stringify({ killed, total: results.length, seeds, mutants: results }))
  } else {
    for (const subject of subjects) {
      const counts = new Map<string, number>()
      for (const result of results) {
        const by = result.killedBy ?? 'nobody'
        if (result.subject === subject) counts.set(by, (counts.get(by) ?? 0) + 1)
      }
      console.log(`${subject}: ${[...counts].map(([by, count]) => `${count} by ${by}`).join('; ')}`)
    }
    console.log(`killed ${killed}/${results.length}`)
  }
  process.exitCode = survivors.some(({ equivalent }) => equivalent === undefined) ? 1 : 0
}
