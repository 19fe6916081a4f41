/** Where the processor's time goes, for Baton and for the plain object, one after the other. */
import { fileURLToPath } from 'node:url'
import { bundle } from '../../worker/local/build.ts'
import { serviceScript } from '../../worker/local/service-script.ts'
import { type CaseName, yardstickOf } from '../case.ts'
import { profileOf } from '../profile/measure.ts'
import { type PartTimes, partTimes } from '../profile/parts.ts'
import { PLAIN } from '../started.ts'
import { rounded } from '../statistics.ts'

export interface ProfileRow {
  readonly subject: string
  readonly case: CaseName
  /** Of one cycle or operation. */
  readonly microseconds: PartTimes
}

const PROFILED = [
  'acquire and release',
  'one operation',
  '10 clients at one participant',
  '10 clients at all participants',
  '50 clients on 100 locks',
] as const

/** Many clients do in one repeat what takes one client more. */
const SHARES: { readonly [name in CaseName]?: number } = {
  '10 clients at one participant': 0.5,
  '10 clients at all participants': 0.5,
  '50 clients on 100 locks': 0.1,
}

/** More samples than usual: parts are compared here, and no functions. */
const SAMPLE_EVERY = 500

export async function measureProfile(repeats: number, onCase?: (of: string) => void): Promise<ProfileRow[]> {
  const scripts = {
    baton: await serviceScript(),
    plain: await bundle(fileURLToPath(new URL('../yardstick/worker.ts', import.meta.url))),
  }
  const rows: ProfileRow[] = []
  for (const name of PROFILED) {
    for (const plain of yardstickOf(name) === name ? [true, false] : [false]) {
      const subject = plain ? PLAIN : 'wme-2'
      onCase?.(`${subject}, ${name}`)
      const count = Math.ceil(repeats * (SHARES[name] ?? 1))
      const profiled = await profileOf(name, { plain, repeats: count, everyMicroseconds: SAMPLE_EVERY })
      const times = partTimes(profiled.profile, plain ? scripts.plain : scripts.baton, profiled.units)
      const microseconds = Object.fromEntries(
        Object.entries(times).map(([part, time]) => [part, rounded(time)]),
      ) as unknown as PartTimes
      rows.push({ subject, case: name, microseconds })
    }
  }
  return rows
}
