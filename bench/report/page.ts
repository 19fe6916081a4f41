/** docs/benchmark.md, and what is printed: all of it follows from the result alone. */
import type { Result } from '../result.ts'
import { wrap } from '../wrap.ts'
import {
  aimsTable,
  diskTable,
  failoverTable,
  growthTable,
  layersTable,
  memoryTable,
  profileTable,
  speedTable,
  useTable,
} from './tables.ts'

const WAY = wrap(
  'Every subject has processes of its own on one machine, all on the same workerd, and they take turns in short ' +
    'rounds. A ratio compares two of them within one round, and the tables show the median and the quartiles of all ' +
    'rounds. The yardstick is a plain Durable Object, one for each lock, as one would write it: it queues its ' +
    'waiters, writes what it must remember, and has no validation, no keys and no fence. Nothing of it is left when ' +
    'its region is gone (`bench/yardstick/plain-lock.ts`).',
)

const ONE_MACHINE = wrap(
  'On one machine this compares mostly processor time. For one operation with N = 3, the router, the owner and two ' +
    'more participants run on the thread on which the yardstick runs a Worker and one object. Deployed, each ' +
    'participant has a thread of its own, and the distance between regions counts instead: one round trip to the ' +
    'nearest majority.',
)

const TIMES = wrap(
  'Rows with *session* are by WebSocket, and so is their yardstick. *Replicated write* is the floor under every ' +
    'replicated operation: one object writes, its peers write, and the answer goes out when a majority has it ' +
    '(`bench/yardstick/replicated-write.ts`). It has no lock and no safety. The milliseconds are those of one cycle ' +
    'or operation, with everything that went on at the same time, and the 99th percentile is that of the single ' +
    'ones, which includes waiting. *First use* names no participant, as a client would: then the lock begins where ' +
    'it can do so alone. Processor time is that of all processes of a subject. *Repeated* says how many ' +
    'requests a busy service asked its client to repeat. etcd (by its JSON gateway) and ZooKeeper, where they are ' +
    'in the table, are three servers each on the same machine, with their default settings.',
)

const FAILOVER = wrap(
  'Each participant is a process. The owner is killed, or frozen as by a long pause, while a client holds the lock ' +
    'there. The time runs from then until another participant has granted the lock to the next client, with the ' +
    'default settings.',
)

const USE = wrap(
  'Counted on an old lock, which forgets as much as it remembers, with three participants. *Busy* means one after ' +
    'the other. *Woken* means that every participant had to be brought back into memory. [deploy.md](deploy.md) ' +
    'explains the units and the prices.',
)

const DISK = wrap(
  'Calls to the disk of one cycle, operation and `transact` (three calls, where there is none), of all processes ' +
    'of a subject, as `strace` counts them.',
)

const GROWTH = wrap(
  'Everything runs in one process. *Wake* is the first `transact` after that process was started again. With more ' +
    'and more locks, `transact` is the first use of each.',
)

const PROFILE = wrap(
  'Microseconds of one cycle or operation, by the part of the code that they were spent in, as the profiler of the ' +
    'runtime samples them, which slows everything down a little. `npm run profile -- --case "one operation"` shows ' +
    'the single functions, and the same with `--plain` those of the yardstick.',
)

const LAYERS = wrap(
  'This says what the limit is, as it stands: the same work with one layer after the other between the client and ' +
    'the plain object, measured in turns with it. Each figure is the time to the time of the plain object, and in ' +
    'brackets the processor time to its processor time. The first two Workers only read what came and write it ' +
    'again. The third one is the Worker of Baton: where its row is above the aim, no participant and no protocol ' +
    'behind it can meet that aim, however quick. In front of a plain object of which one peer has a copy it is what ' +
    'no replicated operation can be quicker than. What Baton takes beyond these rows is the participant (fences, ' +
    'history, time limits, the journal) and the protocol.',
)

const LIMIT = wrap(
  'This is what stands between Baton and the aims that it does not meet. The yardstick hands every request on as ' +
    'it came, to an object that looks at one row. Baton reads and checks a request in the Worker, writes another ' +
    'one for the participant, and copies its answer: that is what it spends in the Worker, and a part of what it ' +
    'spends in the runtime. The participant and the protocol are what fences, history, time limits and replication ' +
    'cost on top. No single function stands out in either. One operation also waits for two writes to the disk, one ' +
    'after the other, as the replicated write above does. Where the token moves between participants, each move ' +
    'is two messages more, which run on the same thread.',
)

/** What the figures mean, as the page says it. */
export const EXPLANATION = [WAY, ONE_MACHINE]

export function benchmarkPage(result: Result): string {
  return `${[
    '# The benchmark',
    wrap(`${commandsOf(result)} wrote this page. ${aboutMachine(result)}`.trim()),
    ...result.notes.map(note => wrap(note)),
    ...EXPLANATION,
    ...reportOf(result),
    '![Time relative to a plain Durable Object](benchmark.svg)',
  ].join('\n\n')}\n`
}

const commandsOf = ({ commands }: Result): string => commands.map(command => `\`${command}\``).join(', then ')

function aboutMachine({ machine, date }: Result): string {
  if (machine === null) return ''
  const { cores, platform, node, workerd, load } = machine
  const [before, after] = load
  return (
    `It ran on ${date}, on a machine with ${cores} cores (${platform}, Node ${node}, workerd ${workerd}) with a ` +
    `load of ${before} before and ${after} at the end.`
  )
}

/** The parts that were measured. */
export function reportOf(result: Result): string[] {
  const part = (isThere: boolean, ...texts: readonly (() => string)[]): string[] =>
    isThere ? texts.map(text => text()) : []
  const words = (text: string) => () => text
  return [
    '## Aims',
    aimsTable(result),
    ...part(result.rows.length > 0, words('## Times'), words(TIMES), () => speedTable(result)),
    ...part(result.memory.length > 0, () => memoryTable(result)),
    ...part(result.disk.length > 0, words('## The disk'), words(DISK), () => diskTable(result)),
    ...part(result.use !== null, words('## Rows, requests and prices'), words(USE), () => useTable(result)),
    ...part(
      result.profile.length > 0,
      words('## Where the time goes'),
      words(PROFILE),
      () => profileTable(result),
      words(LIMIT),
    ),
    ...part((result.layers ?? []).length > 0, words('## One layer after the other'), words(LAYERS), () =>
      layersTable(result),
    ),
    ...part(result.failover.length > 0, words('## When the owner is lost'), words(FAILOVER), () =>
      failoverTable(result),
    ),
    ...part(result.growth.length > 0, words('## Growth'), words(GROWTH), () => growthTable(result)),
  ]
}
