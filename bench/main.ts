/**
 * `npm run bench`: Baton against a plain Durable Object on raw workerd, side by side in one process and one
 * run. Machines are noisy, so cases are interleaved in short rounds, and what counts is the ratio to the
 * yardstick of the same round.
 */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseOptions } from '../cli/arguments.ts'
import { integerOf } from '../cli/values.ts'
import { optionsOrExit } from '../test/tools/options-or-exit.ts'
import { bundle } from '../worker/local/build.ts'
import { startWorkerd } from '../worker/local/workerd.ts'
import { batonCases, type Case, plainCases, type Yardstick } from './cases.ts'
import { request } from './http.ts'
import { PeerRequestCounter, PROCESS } from './peer-requests.ts'
import { aims, benchmarkPage, chart, type Row, table } from './report.ts'

const OPTIONS = {
  rounds: { type: 'string' },
  repeats: { type: 'string' },
  write: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

const { rounds, repeats, ...options } = optionsOrExit('bench', () => {
  const { values } = parseOptions(process.argv.slice(2), OPTIONS)
  const { write, json, help } = values
  const rounds = integerOf('--rounds', values.rounds ?? '12', 1)
  const repeats = integerOf('--repeats', values.repeats ?? '20', 1)
  return { rounds, repeats, write, json, help }
})
if (options.help) {
  console.log('npm run bench -- [--rounds 12] [--repeats 20] [--write: docs/benchmark.md and .svg] [--json]')
  process.exit(0)
}

const storage = await mkdtemp(join(tmpdir(), 'baton-bench-'))
const secret = randomBytes(32).toString('hex')
const running = await startWorkerd({
  script: await bundle(fileURLToPath(new URL('worker.ts', import.meta.url))),
  storage,
  port: 0,
  objects: { PARTICIPANT: 'BatonParticipant', PLAIN: 'PlainLock' },
  variables: {
    BATON_OPEN: 'true',
    BATON_PEER_SECRET: secret,
    BATON_URL: PROCESS,
    BATON_PARTICIPANTS: JSON.stringify([{}, {}, {}]),
  },
})

interface Subject {
  readonly protocol: string
  readonly participants: number
  readonly cases: Case[]
  readonly counter: PeerRequestCounter
}

const subjects: Subject[] = []
for (const protocol of ['wme-1', 'wme-2']) {
  for (const participants of [3, 5]) {
    const name = `bench-${protocol}-${participants}`
    const lock = `${running.url}/v1/locks/${name}`
    await request('PUT', lock, { protocol, participants: Array.from({ length: participants }, () => ({})) })
    const counter = new PeerRequestCounter(running.url, secret, name, participants)
    subjects.push({ protocol, participants, cases: batonCases(lock), counter })
  }
}

const rows = new Map<string, Row>()
try {
  for (let round = 0; round <= rounds; round++) {
    // The first round warms up and is not counted.
    await runRound(round > 0)
    console.error(round === 0 ? 'warm' : `round ${round}/${rounds}`)
  }
} finally {
  await running.stop('SIGKILL')
  await rm(storage, { recursive: true, force: true })
}
await report([...rows.values()])

async function runRound(counts: boolean): Promise<void> {
  const yardsticks = new Map<Yardstick, number>()
  for (const plain of plainCases(running.url)) {
    await plain.prepare?.()
    yardsticks.set(plain.name, await time(plain))
    await plain.finish?.()
  }
  for (const { protocol, participants, cases, counter } of subjects) {
    for (const measured of cases) {
      await measured.prepare?.()
      const before = await counter.read()
      const milliseconds = await time(measured)
      const requests = ((await counter.read()) - before) / (repeats * measured.units)
      await measured.finish?.()
      if (!counts) continue
      const key = `${protocol} ${participants} ${measured.name}`
      const row = rows.get(key) ?? newRow(protocol, participants, measured)
      row.ratios.push(milliseconds / yardsticks.get(measured.yardstick)!)
      row.milliseconds.push(milliseconds / measured.units)
      row.requests.push(requests)
      rows.set(key, row)
    }
  }
}

function newRow(protocol: string, participants: number, { name, yardstick }: Case): Row {
  return { protocol, participants, name, yardstick, ratios: [], milliseconds: [], requests: [] }
}

async function time({ run }: { run(): Promise<unknown> }): Promise<number> {
  const began = performance.now()
  for (let count = 0; count < repeats; count++) await run()
  return (performance.now() - began) / repeats
}

async function report(measured: readonly Row[]): Promise<void> {
  if (options.json) console.log(JSON.stringify({ rounds, repeats, rows: measured.map(summary) }))
  else console.log(`${table(measured)}\n\n${aims(measured)}`)
  if (!options.write) return
  const page = benchmarkPage(`npm run bench -- --rounds ${rounds} --repeats ${repeats} --write`, measured)
  await writeFile(fileURLToPath(new URL('../docs/benchmark.md', import.meta.url)), page)
  await writeFile(fileURLToPath(new URL('../docs/benchmark.svg', import.meta.url)), chart(measured))
}

function summary({ protocol, participants, name, yardstick, ratios, milliseconds, requests }: Row) {
  return {
    protocol,
    participants,
    name,
    yardstick,
    ratio: median(ratios),
    milliseconds: median(milliseconds),
    requestsBetweenObjects: median(requests),
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]!
}
