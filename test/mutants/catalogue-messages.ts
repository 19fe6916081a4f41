/** What is sent, and what is not: re-entries that concern nobody. */
import type { Mutant } from './catalogue.ts'
import { WME } from './sources.ts'

export const messageMutants: Mutant[] = [
  {
    id: 're-entry-waits-unconfirmed',
    trap: 'confirm',
    title: 'a re-entry whose user waits for the confirmation is not sent',
    file: WME.replicate,
    find: "  if (durable.stub.phase === 'entering') return false\n",
    replace: '',
  },
  {
    id: 'entries-wait-like-re-entries',
    trap: 'confirm',
    title: 'operations and grants wait for something to ride on, like re-entries',
    file: WME.replicate,
    find: "unsent.every(entry => entry.kind === 'grant' && entry.by === self && entry.to === self)",
    replace: 'unsent.length > 0',
  },
  {
    id: 're-entry-timer-outlives-its-user',
    trap: 'quiescence',
    title: 'the timer of a re-entry is not cancelled when its user leaves',
    file: WME.replicate,
    find: "  if (!isHeldUnsent(step)) cancelTimer(step, 'confirm')",
    replace: '  if (!isHeldUnsent(step)) return',
  },
  {
    id: 're-entry-repeated-unsent',
    trap: 'quiescence',
    title: 'a re-entry that was not sent is repeated',
    file: WME.repeat,
    find: 'soft.acknowledged[peer]! < soft.sent[peer]!',
    replace: 'soft.acknowledged[peer]! < lengthOf(durable)',
  },
  {
    id: 're-entries-without-limit',
    trap: 'confirm',
    title: 'the owner gathers re-entries until it has no room for another, and waits for ever',
    file: WME.replicate,
    find: '    unsent.length < most &&\n',
    replace: '',
  },
  {
    id: 're-entry-hides-do-invoke',
    trap: 'C7',
    title: 'a re-entry that was not sent counts as news of the operation before it',
    file: WME.centralised,
    find: 'leastSent(step) - 1',
    replace: 'durable.base.sequence + durable.log.length - 1',
  },
]
