/**
 * One run of the whole service: faults, healing, progress, and the judge. The same seed gives the same run.
 */
import { Random } from '../random.ts'
import type { ViolationReport } from '../run.ts'
import type { Print } from '../transcript.ts'
import { Violation } from '../violation.ts'
import { perform } from './client-actions.ts'
import type { Counts } from './counts.ts'
import { FaultInjector } from './fault-injector.ts'
import { replaceGlobals } from './globals.ts'
import { Healing } from './healing.ts'
import { SimHeaders, SimRequest, SimResponse } from './http.ts'
import { InstanceOver } from './instance.ts'
import { judgeRun } from './judge.ts'
import { type ClientPlan, drawPlan, type Plan, type PlanOptions, STREAM } from './plan.ts'
import { SimClient } from './sim-client.ts'
import type { Tampering } from './tampering.ts'
import { EscapedError, InternalError, World } from './world.ts'

export interface ServiceRunOptions extends PlanOptions {
  readonly tampering?: Tampering
}

export interface ServiceRunResult {
  readonly seed: number
  readonly violation: ViolationReport | null
  /** Events of virtual time. */
  readonly steps: number
  readonly counts: Counts
  readonly transcriptHash: string
}

export function runService(
  seed: number,
  options: ServiceRunOptions = {},
  print: Print | null = null,
): Promise<ServiceRunResult> {
  return runPlan(drawPlan(seed, options), options.tampering ?? {}, print)
}

export async function runPlan(
  plan: Plan,
  tampering: Tampering = {},
  print: Print | null = null,
): Promise<ServiceRunResult> {
  const world = new World(plan, tampering, print)
  const restore = enter(world)
  let violation: ViolationReport | null = null
  try {
    await live(world)
  } catch (thrown) {
    world.fail(thrown)
  } finally {
    restore()
  }
  if (world.failure !== null) {
    violation = reportOf(worseThan(world.failure, world), world.loop.now)
    world.note('', `VIOLATION of ${violation.rule}: ${violation.message}`)
  }
  const { counts, transcriptHash, loop } = world
  return { seed: plan.seed, violation, steps: loop.events, counts, transcriptHash }
}

/** A lock that is of no use any more may have lost something, too: that is worse, and is looked for. */
function worseThan(failure: unknown, world: World): unknown {
  if (!(failure instanceof Violation) || failure.kind !== 'liveness') return failure
  try {
    judgeRun(world)
  } catch (thrown) {
    if (thrown instanceof Violation && thrown.kind === 'safety') return thrown
  }
  return failure
}

/** From here to `restore` the globals of this thread belong to the run. */
function enter(world: World): () => void {
  const restoreTime = replaceGlobals(world.loop, new Random(world.plan.seed, STREAM.globals))
  const { Request, Response, Headers } = globalThis
  Object.assign(globalThis, { Request: SimRequest, Response: SimResponse, Headers: SimHeaders })
  // The caller has listeners of its own, which know nothing about instances that are over.
  const before = process.rawListeners('unhandledRejection') as ((...given: unknown[]) => void)[]
  process.removeAllListeners('unhandledRejection')
  const onRejection = (error: unknown): void => {
    if (!(error instanceof InstanceOver)) world.escaped('', error)
  }
  process.on('unhandledRejection', onRejection)
  return () => {
    restoreTime()
    Object.assign(globalThis, { Request, Response, Headers })
    process.off('unhandledRejection', onRejection)
    for (const listener of before) process.on('unhandledRejection', listener)
  }
}

async function live(world: World): Promise<void> {
  const { plan, loop } = world
  const isOver = (): boolean => world.failure !== null
  new FaultInjector(world).plan()
  const clients = plan.clients.map((client, index) => {
    const router = world.routers[client.router]!
    return play(new SimClient(world, world.clientSites[index]!, router, index), client, plan.durationMs)
  })
  await loop.runUntil(plan.durationMs, isOver)
  if (isOver()) return
  await new Healing(world, Promise.all(clients)).run()
  if (isOver()) return
  judgeRun(world)
}

async function play(client: SimClient, { actions }: ClientPlan, durationMs: number): Promise<void> {
  const { loop } = client.world
  for (const action of actions) {
    if (loop.now < action.at) await client.sleep(action.at - loop.now)
    if (loop.now >= durationMs) return
    client.note(`begins ${JSON.stringify(action)}`)
    await perform(client, action)
  }
}

function reportOf(thrown: unknown, at: number): ViolationReport {
  if (thrown instanceof Violation) {
    return { kind: thrown.kind, rule: thrown.rule, message: thrown.message, at }
  }
  const { message } = thrown instanceof Error ? thrown : new Error(String(thrown))
  if (thrown instanceof EscapedError) return { kind: 'defect', rule: 'escaped', message, at }
  if (thrown instanceof InternalError) return { kind: 'defect', rule: 'internal', message, at }
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : ''
  return { kind: 'defect', rule: 'thrown', message: `${message} ${stack.split('\n')[1]?.trim() ?? ''}`, at }
}
