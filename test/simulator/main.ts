/** `npm run sim`: see command-line.ts for the options, run.ts for what one run is. */

import { note, say } from '../print.ts'
import { optionsOrExit } from '../tools/options-or-exit.ts'
import { runBatches } from './batch.ts'
import { type CommandLine, HELP, parseCommandLine, replayCommand } from './command-line.ts'
import { CrewMember } from './crew.ts'
import type { Failure, ShrinkAnswer } from './jobs.ts'
import * as report from './report.ts'
import { runSeed } from './run.ts'
import type { RunOptions } from './scenario.ts'

const words = process.argv.slice(2)
process.exitCode = await (words.includes('--birth') ? birth : words.includes('--detector') ? detector : main)(
  words,
)

/** What is not asked for is not loaded: the protocols need neither births nor the service. */
async function detector(words: readonly string[]): Promise<number> {
  return (await import('./detector/main.ts')).main(words)
}

async function birth(words: readonly string[]): Promise<number> {
  return (await import('../birth/main.ts')).main(words)
}

async function main(words: readonly string[]): Promise<number> {
  const command = optionsOrExit('sim', () => parseCommandLine(words))
  if (command.help) {
    say(HELP)
    return 0
  }
  if (command.service) {
    const { serviceMain } = await import('./service/main.ts')
    return serviceMain(command, say, note)
  }
  return command.replay === null ? simulate(command) : replay(command, command.replay)
}

async function simulate(command: CommandLine): Promise<number> {
  // With --json, standard output is for the one object alone.
  const print = command.json ? note : say
  print(`${report.describeOptions(command)}\n`)
  let shownAt = 0
  const batches = await runBatches(command, (done, inAll, failures) => {
    if (Date.now() - shownAt < 1_000 && done < inAll) return
    shownAt = Date.now()
    note(`${done} of ${inAll} runs, ${failures} violations\n`)
  })
  const failures = report.failuresOf(batches)
  const shrunk = failures.length > 0 && command.shrink ? await shrinkFirst(failures[0]!) : null
  if (command.json) say(`${JSON.stringify(report.asJson(command, batches, shrunk))}\n`)
  print(`\n${report.describeBatches(batches)}`)
  if (failures.length > 0) print(`\n${report.describeFailures(failures, shrunk)}`)
  return report.isGood(batches) ? 0 : 1
}

/** A run that does not end cannot be made smaller. */
async function shrinkFirst({ options, seed, rule }: Failure): Promise<ShrinkAnswer | null> {
  if (rule === 'endless') return null
  note('looking for a smaller run with the same violation ...\n')
  const member = new CrewMember()
  try {
    return (await member.perform({ type: 'shrink', options, seed })) as ShrinkAnswer
  } catch {
    return null
  } finally {
    member.dismiss()
  }
}

function replay(command: CommandLine, seed: number): number {
  const { protocols, participants, faults, durationMs, users, plain, members } = command
  const options: RunOptions = {
    protocol: protocols[0]!,
    participants: participants[0]!,
    faults,
    durationMs,
    users,
    plain,
    members,
  }
  const print = command.trace && !command.json ? (line: string) => say(`${line}\n`) : null
  if (!command.json) say(`${replayCommand(options, seed)}\n\n`)
  const { verdict, violation, steps, counts, transcriptHash } = runSeed(options, seed, print)
  if (command.json)
    say(`${JSON.stringify({ ...options, seed, verdict, violation, steps, counts, transcriptHash })}\n`)
  else {
    const what =
      violation === null
        ? 'no violation'
        : `VIOLATION (${violation.kind}) of ${violation.rule}: ${violation.message}`
    say(`\n${what}\n${steps} steps, transcript ${transcriptHash}\n`)
  }
  return violation === null ? 0 : 1
}
