/** Runs the parts that were chosen, one after the other, and puts together what they found. */
import { countOld } from './count/count.ts'
import { countReport } from './count/report.ts'
import type { BenchOptions, Part } from './options.ts'
import { measureFailover } from './parts/failover.ts'
import { GROWTH, type GrowthSizes, measureGrowth } from './parts/growth.ts'
import { measureLayers } from './parts/layers.ts'
import { measureProfile } from './parts/profile.ts'
import { measureSpeed, type SpeedResult } from './parts/speed.ts'
import { HOW_TO_INSTALL, type StartedPeer, startEtcd, startZooKeeper } from './peers/start.ts'
import { load, machine, type Result } from './result.ts'

/** How much is done where the options do not say; tests do less. */
export interface Amounts {
  readonly manyLocks?: number
  readonly disk: number
  readonly uses: number
  readonly wakings: number
  readonly profiled: number
  readonly failovers: number
  readonly growth: GrowthSizes
  readonly growthRepeats: number
}

const AMOUNTS: Amounts = {
  disk: 400,
  uses: 300,
  wakings: 1,
  profiled: 3_000,
  failovers: 5,
  growth: GROWTH,
  growthRepeats: 50,
}

export type Progress = (line: string) => void

export async function run(
  options: BenchOptions,
  command: string,
  progress: Progress,
  amounts = AMOUNTS,
): Promise<Result> {
  const loadBefore = load()
  const has = (part: Part) => options.parts.has(part)
  const notes: string[] = []
  /** A part that fails must not take the others with it: it is left out, and the result says so. */
  const attempt = async <Found>(
    part: string,
    measure: () => Promise<Found>,
    nothing: Found,
  ): Promise<Found> => {
    try {
      return await measure()
    } catch (error) {
      const { message } = error as Error
      progress(`${part} failed: ${message}`)
      notes.push(`The part \`${part}\` is not here, because it failed: ${message.split('\n')[0]}`)
      return nothing
    }
  }
  const speed = await attempt('speed', () => speedOf(options, progress, amounts), NO_SPEED)
  const use = has('rows') ? await attempt('rows', () => useOf(options, progress, amounts), null) : null
  const profile = has('profile') ? await attempt('profile', () => profileRows(progress, amounts), []) : []
  const layers = has('layers') ? await attempt('layers', () => layerRows(options, progress, amounts), []) : []
  const failover = has('failover') ? await attempt('failover', () => failoverOf(progress, amounts), []) : []
  const growth = has('growth') ? await attempt('growth', () => growthOf(progress, amounts), []) : []
  return {
    commands: [command],
    date: new Date().toISOString().slice(0, 10),
    machine: machine(loadBefore),
    notes,
    ...speed,
    use,
    profile,
    layers,
    failover,
    growth,
  }
}

const NO_SPEED: SpeedResult = { rows: [], memory: [], disk: [] }

async function speedOf(
  options: BenchOptions,
  progress: Progress,
  { disk, manyLocks }: Amounts,
): Promise<SpeedResult> {
  const { parts, rounds, repeats } = options
  const chosen = (['speed', 'protocols', 'processes', 'disk'] as const).filter(part => parts.has(part))
  if (chosen.length === 0) return NO_SPEED
  const peers = options.peers ? await startPeers(progress) : []
  try {
    return await measureSpeed({
      parts: new Set(chosen),
      peers: peers.map(({ subject }) => subject),
      rounds,
      repeats,
      diskRepeats: disk,
      manyLocks,
      onRound: round => progress(round === 0 ? 'warm' : `round ${round}/${rounds}`),
      onProgress: progress,
    })
  } finally {
    for (const peer of peers) await peer.stop()
  }
}

async function startPeers(progress: Progress): Promise<StartedPeer[]> {
  const etcd = await startEtcd()
  if (etcd === null) progress(HOW_TO_INSTALL.etcd)
  const zooKeeper = await startZooKeeper()
  if (zooKeeper === null) progress(HOW_TO_INSTALL.ZooKeeper)
  return [etcd, zooKeeper].filter(peer => peer !== null)
}

async function useOf({ before }: BenchOptions, progress: Progress, { uses, wakings }: Amounts) {
  const onProgress = (what: string) => progress(`rows: ${what}`)
  return countReport(await countOld({ before, number: uses, wakings, onProgress }))
}

const profileRows = (progress: Progress, { profiled }: Amounts) =>
  measureProfile(profiled, of => progress(`profile: ${of}`))

const layerRows = ({ rounds, repeats }: BenchOptions, progress: Progress, { manyLocks }: Amounts) =>
  measureLayers({
    rounds,
    repeats,
    manyLocks,
    onRound: round => progress(`layers: round ${round}/${rounds}`),
  })

const failoverOf = (progress: Progress, { failovers }: Amounts) =>
  measureFailover(failovers, time => progress(`failover: ${time}`))

const growthOf = (progress: Progress, { growth, growthRepeats }: Amounts) =>
  measureGrowth({
    sizes: growth,
    repeats: growthRepeats,
    onRow: ({ of, number, transactMs }) => progress(`growth: ${number} ${of}, transact ${transactMs} ms`),
  })

/** What was measured now instead of what was measured before; `parts` is all that was measured now. */
export function replaceParts(kept: Result, now: Result, parts: ReadonlySet<Part>): Result {
  const has = (part: Part) => parts.has(part)
  const measured = new Set(now.rows.map(rowKey))
  // What the page says of the machine is for the times.
  const { machine, date } = now.rows.length > 0 ? now : kept
  return {
    ...now,
    ...{ machine, date },
    commands: [...kept.commands.filter(command => !now.commands.includes(command)), ...now.commands],
    notes: [...kept.notes, ...now.notes],
    rows: [...kept.rows.filter(row => !measured.has(rowKey(row))), ...now.rows],
    memory: now.memory.length > 0 ? now.memory : kept.memory,
    disk: has('disk') ? now.disk : kept.disk,
    use: has('rows') ? now.use : kept.use,
    profile: has('profile') ? now.profile : (kept.profile ?? []),
    layers: has('layers') ? now.layers : (kept.layers ?? []),
    failover: has('failover') ? now.failover : kept.failover,
    growth: has('growth') ? now.growth : kept.growth,
  }
}

const rowKey = (row: Result['rows'][number]): string =>
  [row.subject, row.participants, row.processes, row.case].join()
