/** A profile of one kind of work, in a process of its own. */
import { Inspector } from '../../test/tools/inspector.ts'
import { type CaseName, yardstickOf } from '../case.ts'
import { batonCases } from '../cases/baton.ts'
import { plainCases } from '../cases/plain.ts'
import { startBaton, startYardsticks } from '../started.ts'
import type { CpuProfile } from './profile.ts'

const WARM = 300

export interface Profiled {
  readonly profile: CpuProfile
  readonly tookMs: number
  /** How many cycles, operations or calls that was. */
  readonly units: number
}

/** `plain`: the yardstick instead of Baton. `everyMicroseconds`: more samples slow the service down. */
export async function profileOf(
  name: CaseName,
  { plain, repeats, everyMicroseconds }: { plain: boolean; repeats: number; everyMicroseconds: number },
): Promise<Profiled> {
  const running = await (plain ? startYardsticks(true) : startBaton(true))
  try {
    const cases = plain ? plainCases(running.url, 'plain') : batonCases(running.url, 'profile', 3, {})
    const work = cases[plain ? yardstickOf(name) : name]
    if (work === undefined) throw new Error(`the plain object has no ${name}`)
    await work.prepare?.()
    await work.run(WARM)
    const inspector = new Inspector(running.inspectorPort()!)
    await inspector.ask('Profiler.enable')
    await inspector.ask('Profiler.setSamplingInterval', { interval: everyMicroseconds })
    await inspector.ask('Profiler.start')
    const began = performance.now()
    const units = (await work.run(repeats)).length
    const tookMs = performance.now() - began
    const { profile } = (await inspector.ask('Profiler.stop')) as { readonly profile: CpuProfile }
    inspector.close()
    await work.finish?.()
    return { profile, tookMs, units }
  } finally {
    await running.stop()
  }
}
