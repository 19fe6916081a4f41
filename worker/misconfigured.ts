/** A service whose variables are wrong serves nothing and touches no lock. */
import { logEntry } from '../shared/log.ts'
import { checkEnvironment, type EnvironmentReport } from './check-environment.ts'
import { logToConsole } from './console-log.ts'
import type { BatonEnvironment } from './environment.ts'
import { problemAnswer } from './problem-answer.ts'

/** An environment does not change during its life. */
const reports = new WeakMap<BatonEnvironment, EnvironmentReport>()

/**
 * Returns `null` if nothing is wrong. The first request of an instance runs the check and logs the result.
 */
export function refuseMisconfigured(env: BatonEnvironment, request: Request): Response | null {
  const report = reports.get(env) ?? checkedFirst(env)
  if (report.mistakes.length === 0) return null
  const detail = `${report.mistakes.join(' ')} Nothing is served until this is mended; see docs/deploy.md.`
  return problemAnswer(request, 'misconfigured', detail, { headers: { 'retry-after': '60' } })
}

function checkedFirst(env: BatonEnvironment): EnvironmentReport {
  const report = checkEnvironment(env)
  reports.set(env, report)
  for (const detail of report.mistakes) logToConsole(logEntry('misconfigured', { detail }))
  for (const detail of report.warnings) logToConsole(logEntry('unknown_variable', { detail }))
  return report
}
