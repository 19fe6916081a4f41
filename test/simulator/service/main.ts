/** `npm run sim -- --service`: many seeds of the whole service, or one of them again. */
import type { CommandLine } from '../command-line.ts'
import { CrewMember } from '../crew.ts'
import { runServiceBatch } from './batch.ts'
import type { ServiceFailure, ServiceShrinkAnswer } from './jobs.ts'
import * as report from './report.ts'
import { runService } from './run.ts'

type Write = (text: string) => void

export function serviceMain(command: CommandLine, say: Write, note: Write): Promise<number> {
  return command.replay === null ? simulate(command, say, note) : replay(command, command.replay, say)
}

async function simulate(command: CommandLine, say: Write, note: Write): Promise<number> {
  // With --json, standard output is for the one object alone.
  const print = command.json ? note : say
  print(`${report.describeOptions(command)}\n`)
  let shownAt = 0
  const batch = await runServiceBatch(command, (done, inAll, failures) => {
    if (Date.now() - shownAt < 1_000 && done < inAll) return
    shownAt = Date.now()
    note(`${done} of ${inAll} runs, ${failures} violations\n`)
  })
  const [first] = batch.failures
  const shrunk = first !== undefined && command.shrink ? await shrinkFirst(first, note) : null
  if (command.json) say(`${JSON.stringify(report.asJson(command, batch, shrunk))}\n`)
  print(`\n${report.describeBatch(batch)}`)
  if (batch.failures.length > 0) print(`\n${report.describeFailures(batch.failures, shrunk)}`)
  return report.isGood(batch) ? 0 : 1
}

/** A run that does not end cannot be made smaller. */
async function shrinkFirst({ seed, rule }: ServiceFailure, note: Write): Promise<ServiceShrinkAnswer | null> {
  if (rule === 'endless') return null
  note('looking for a smaller run with the same violation ...\n')
  const member = new CrewMember()
  try {
    return (await member.perform({ type: 'shrink-service', seed })) as ServiceShrinkAnswer
  } catch {
    return null
  } finally {
    member.dismiss()
  }
}

async function replay(command: CommandLine, seed: number, say: Write): Promise<number> {
  const print = command.trace && !command.json ? (line: string) => say(`${line}\n`) : null
  if (!command.json) say(`${report.replayCommand(seed, command.without)}\n\n`)
  const result = await runService(seed, { without: new Set(command.without) }, print)
  const { violation, steps, transcriptHash } = result
  if (command.json) say(`${JSON.stringify(result)}\n`)
  else {
    const what =
      violation === null
        ? 'no violation'
        : `VIOLATION (${violation.kind}) of ${violation.rule}: ${violation.message}`
    say(`\n${what}\n${steps} steps, transcript ${transcriptHash}\n`)
  }
  return violation === null ? 0 : 1
}
