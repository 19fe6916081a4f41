/** `baton history <lock>`: what the participants recorded, to read, to keep, or to have judged. */
import type { LockHistory } from '../../client/index.ts'
import type { Verdict } from '../../shared/history/verdict.ts'
import { type Context, defineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { Refusal, sentence } from '../explain.ts'
import { gapsOf, historyFrom } from '../recorded-history.ts'

export const history = defineCommand({
  name: 'history',
  words: ['<lock>'],
  summary: 'print what the participants recorded, or judge it',
  description: `Prints a header and then one event on each line, all of them JSON: the format that the checker reads.

--check judges the history: it says of each promise of weak mutual exclusion whether it was kept, with the events
that prove a violation. Participants keep a bounded record. If a part of it is missing, what looks like a violation
proves nothing, and the verdict is unknown.`,
  options: { check: { type: 'boolean', help: 'print a verdict on each property, instead of the events' } },
  examples: ['baton history orders > orders.jsonl', 'baton history orders --check'],
  exitCodes: [
    ['0', 'the history was printed, or --check found no violation'],
    ['1', '--check found a violation, or the service refused'],
    ['2', 'the command line makes no sense'],
    ['5', 'unreachable: no answer from the service'],
    ['6', '--check cannot tell: a part of the record is missing'],
  ],
  async run(context, { options, words }) {
    const { signal } = context.signals
    const recorded = await context.lock(words[0]!).history({ signal })
    if (options.check) return check(context, recorded)
    const gaps = gapsOf(recorded)
    for (const gap of gaps) context.output.warn(gap)
    const { header, events } = historyFrom(recorded)
    for (const line of [header, ...events]) context.output.line(JSON.stringify(line))
    return EXIT.done
  },
})

async function check({ output }: Context, recorded: LockHistory): Promise<number> {
  // Loaded only here: the judge is larger than all the rest of the command line.
  const { judge } = await import('../../shared/history/judge.ts')
  const { report } = await import('../../shared/history/report.ts')
  const { resourceByName } = await import('../../shared/resource/registry.ts')
  const whole = historyFrom(recorded)
  const resource = resourceByName(whole.header.resource)
  if (resource === undefined) {
    throw new Refusal(
      'not_supported',
      `the lock guards '${whole.header.resource}', which only its own service can check`,
    )
  }
  const judgement = judge(whole, resource)
  const gaps = gapsOf(recorded)
  const isInDoubt = judgement.safety === 'invalid' && gaps.length > 0
  const doubts = gaps.map(gap => sentence(gap))
  output.result({ ...judgement, ...(isInDoubt && { verdict: 'unknown', safety: 'unknown' }), gaps }, [
    report(whole.header, judgement).trimEnd(),
    PROGRESS,
    ...doubts,
    conclusion(judgement.safety, isInDoubt),
  ])
  if (isInDoubt) return EXIT.unknown
  return judgement.safety === 'invalid' ? EXIT.refused : EXIT.done
}

/** What the properties that the record cannot decide have in common. */
const PROGRESS = 'Progress is not judged here: the lock is in use, and whoever waits may still be served.'

function conclusion(safety: Verdict, isInDoubt: boolean): string {
  if (isInDoubt) return 'So a part is missing, and the violations above prove nothing.'
  return safety === 'invalid' ? 'The history breaks a promise.' : 'No violation was found.'
}
