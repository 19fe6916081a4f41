/** Watchers that come, stay and come back: what keeps them open, and where they go on. */
import type { Mutant } from './catalogue.ts'
import { lines } from './sources.ts'

const TICKS = 'worker/participant/core/ticks.ts'
const WATCHERS = 'worker/participant/streams/watchers.ts'
const TRAP = 'watch'

export const watcherMutants: Mutant[] = [
  {
    id: 'watch-chains-of-ticks',
    trap: TRAP,
    title: 'each watcher that leaves and comes back begins one more chain of ticks',
    file: TICKS,
    find: '    if (this.next !== null) timers.cancel(this.next)\n',
    replace: '',
  },
  {
    id: 'watch-ticks-for-nobody',
    trap: TRAP,
    title: 'ticks go on when there is no reason any more',
    file: TICKS,
    find: '      if (this.host.tick()) this.begin()\n',
    replace: '      this.host.tick()\n      this.begin()\n',
  },
  {
    id: 'watch-silent-while-behind',
    trap: TRAP,
    title: 'a watcher that waits for an export to end hears nothing',
    file: WATCHERS,
    find: "    if (behind?.type !== 'snapshot') sink.write(': still here\\n\\n')\n",
    replace: "    if (behind === null) sink.write(': still here\\n\\n')\n",
  },
  {
    id: 'watch-taken-back',
    trap: TRAP,
    title: 'whoever resumes at a participant that is behind is told once more what it has seen',
    file: WATCHERS,
    find: '    if (this.isBeyond(behind)) return 0\n',
    replace: '',
  },
  {
    id: 'watch-reads-after-its-end',
    trap: TRAP,
    title: 'a watch whose signal is aborted begins to read once more, and nobody hears that this fails',
    file: 'client/watch.ts',
    find: lines(
      '      if (signal?.aborted) throw abortedError(signal)',
      '      const { done, value } = await within(clock, LONGEST_SILENCE_MS, signal, reader.read())',
    ),
    replace: lines(
      '      const reading = reader.read()',
      '      if (signal?.aborted) throw abortedError(signal)',
      '      const { done, value } = await within(clock, LONGEST_SILENCE_MS, signal, reading)',
    ),
  },
]
