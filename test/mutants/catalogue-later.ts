/** What may be written later, what may not, and what is done again when it was lost. */
import type { Mutant } from './catalogue.ts'
import { PARTICIPANT, WME } from './sources.ts'

export const laterMutants: Mutant[] = [
  {
    id: 'later-entry',
    trap: 'W9 later',
    title: 'an entry of the log may wait to be written',
    file: WME.log,
    find: '  save(step, logKey(entry.sequence), entry)\n  if (entry',
    replace: '  saveLater(step, logKey(entry.sequence), entry)\n  if (entry',
  },
  {
    id: 'later-everything',
    trap: 'W9 later',
    title: 'everything may wait to be written',
    file: WME.step,
    find: '  step.mayWait = false\n',
    replace: '',
  },
  {
    id: 'later-release',
    trap: 'W9 later',
    title: 'a release that was said by itself may wait',
    file: WME.grants,
    find: '    noteEnd(step, ending)\n    step.mayWait = false\n',
    replace: '    noteEnd(step, ending)\n',
  },
  {
    id: 'later-exit-forgotten',
    trap: 'W9 later',
    title: 'that the user leaves with its operation is not in the record of the stub',
    file: WME.normal,
    find: 'changeStub(step, { pendingOperation: { ...pendingOperation!, sequence } })',
    replace: 'changeStub(step, { pendingOperation: { opId, operation, weight, sequence } })',
  },
  {
    id: 'later-old-grant',
    trap: 'W9 later',
    title: 'a user that left with its operation and tries again gets its old grant',
    file: WME.normal,
    find: ' && !isLeaving) {',
    replace: ') {',
  },
  {
    id: 'later-never-written',
    trap: 'W9 later',
    title: 'what waits is not part of the next row',
    file: PARTICIPANT.storage,
    find: '    const lines = this.waiting\n    this.waiting = []\n',
    replace: '    const lines = this.waiting.slice(-1)\n    this.waiting = []\n',
  },
  {
    id: 'later-own-keys',
    trap: 'W9 later',
    title: "the participant's own records may wait",
    file: PARTICIPANT.storage,
    find: '  put(key: string, value: Json): void {\n    this.isUrgent = true\n',
    replace: '  put(key: string, value: Json): void {\n',
  },
  {
    id: 'later-no-flush',
    trap: 'W9 later',
    title: 'what waits is not written by itself, however long nothing comes',
    file: PARTICIPANT.participant,
    find: '      this.storage.flush()\n',
    replace: '',
  },
]
