/**
 * `npm run failover`: how long a lock stands still when the process of its holder does, on real processes. A
 * user holds the lock at one participant, another one waits for it at the next; then the holder's process is
 * stopped (SIGSTOP) or killed, and the time runs until the other user is let in. Each round has a lock of its
 * own, because a detector that was wrong is more patient afterwards.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseOptions } from '../../cli/arguments.ts'
import { integerOf } from '../../cli/values.ts'
import { LocalCluster } from '../../worker/local/cluster.ts'
import { note, say } from '../print.ts'
import { eventually, sleep } from '../service/eventually.ts'
import { TestLock } from '../service/lock.ts'
import { optionsOrExit } from '../tools/options-or-exit.ts'

const HELP = `usage: npm run failover -- [options]

Stops the process of a lock's holder while somebody waits for the lock elsewhere, and prints the time from
there to the next grant: of each round, and the median.

  --rounds <number>        how many (default 7)
  --kill                   SIGKILL instead of SIGSTOP
  --waits <milliseconds>   how long the other user has waited by then (default 1000)
  --late <milliseconds>    instead, how long after that it comes
  --participants <number>  default 3
  --protocol <name>        default wme-2
  --json                   the last line is {protocol, fault, waitsMs, medianMs, rounds}
  --help                   print this
`

const OPTIONS = {
  rounds: { type: 'string' },
  kill: { type: 'boolean' },
  waits: { type: 'string' },
  late: { type: 'string' },
  participants: { type: 'string' },
  protocol: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

type Options = ReturnType<typeof read>

function read(words: readonly string[]) {
  const { values } = parseOptions(words, OPTIONS)
  return {
    rounds: integerOf('--rounds', values.rounds ?? '7', 1),
    fault: values.kill ? ('kill' as const) : ('freeze' as const),
    /** Below zero: it comes that much later. */
    waitsMs:
      values.late === undefined
        ? integerOf('--waits', values.waits ?? '1000')
        : -integerOf('--late', values.late, 1),
    participants: integerOf('--participants', values.participants ?? '3', 3),
    protocol: values.protocol ?? 'wme-2',
    json: values.json,
    help: values.help,
  }
}

process.exitCode = await main(process.argv.slice(2))

async function main(words: readonly string[]): Promise<number> {
  const options = optionsOrExit('failover', () => read(words))
  if (options.help) {
    say(HELP)
    return 0
  }
  const { protocol, fault, waitsMs } = options
  const print = (line: string) => (options.json ? note : say)(`${line}\n`)
  const rounds = await measure(options, print)
  const medianMs = rounds.toSorted((one, other) => one - other)[Math.floor(rounds.length / 2)]!
  print(`${protocol}, ${fault}: ${medianMs} ms in the median of ${rounds.length} rounds`)
  if (options.json) say(`${JSON.stringify({ protocol, fault, waitsMs, medianMs, rounds })}\n`)
  return 0
}

async function measure(options: Options, print: (line: string) => void): Promise<number[]> {
  const storage = await mkdtemp(join(tmpdir(), 'baton-failover-'))
  const { participants, protocol } = options
  const cluster = await LocalCluster.start({ participants, protocol, storage })
  try {
    const rounds: number[] = []
    for (let round = 1; round <= options.rounds; round++) {
      rounds.push(await failOver(cluster, round, options))
      print(`round ${round}: ${rounds.at(-1)} ms`)
    }
    return rounds
  } finally {
    for (let id = 1; id <= participants; id++) cluster.resume(id)
    await cluster.stop()
    await rm(storage, { recursive: true, force: true })
  }
}

/** The time in milliseconds from the fault to the next grant. */
async function failOver(
  cluster: LocalCluster,
  round: number,
  { fault, waitsMs, participants }: Options,
): Promise<number> {
  const lock = new TestLock(`failover-${round}`, () => cluster.url)
  const at = (round % participants) + 1
  const next = (at % participants) + 1
  const grant = await lock.granted({ at, ttlMs: 600_000 })
  await lock.applied(grant, [{ increment: 'n' }])
  const wait = async () => {
    const { id } = await eventually(() => lock.granted({ at: next, waitMs: 25_000 }))
    return { id, grantedAt: performance.now() }
  }
  const early = waitsMs >= 0 ? wait() : null
  await sleep(Math.max(0, waitsMs))
  const brokenAt = performance.now()
  // The signal is sent at once. That a killed process is gone is known a little later.
  const broken = fault === 'kill' ? cluster.kill(at) : cluster.pause(at)
  await sleep(Math.max(0, -waitsMs))
  const { id, grantedAt } = await (early ?? wait())
  await broken
  if (fault === 'kill') await eventually(() => cluster.restart(at))
  else cluster.resume(at)
  await lock.released({ id })
  return Math.round(grantedAt - brokenAt)
}
