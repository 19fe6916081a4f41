/**
 * The catalogue of mutants: for each rule of docs/specification.md that an edit can take away, at least one
 * small edit of the source that does so. A change to a line that a mutant names must change the mutant, too.
 */
import { birthMutants } from './catalogue-birth.ts'
import { bytesMutants } from './catalogue-bytes.ts'
import { callerMutants } from './catalogue-callers.ts'
import { coreMutants } from './catalogue-core.ts'
import { detectorMutants } from './catalogue-detector.ts'
import { doubtMutants } from './catalogue-doubts.ts'
import { durabilityMutants } from './catalogue-durability.ts'
import { endMutants } from './catalogue-ends.ts'
import { ghostMutants } from './catalogue-ghosts.ts'
import { holderMutants } from './catalogue-holders.ts'
import { journalMutants } from './catalogue-journal.ts'
import { laterMutants } from './catalogue-later.ts'
import { lifeMutants } from './catalogue-life.ts'
import { livenessMutants } from './catalogue-liveness.ts'
import { lockOnlyMutants } from './catalogue-lock-only.ts'
import { lookingMutants } from './catalogue-looking.ts'
import { lossMutants } from './catalogue-loss.ts'
import { maekawaMutants } from './catalogue-maekawa.ts'
import { memberMutants } from './catalogue-members.ts'
import { otherMemberMutants } from './catalogue-members-others.ts'
import { messageMutants } from './catalogue-messages.ts'
import { movingMutants } from './catalogue-moving.ts'
import { olderMutants } from './catalogue-older.ts'
import { participantMutants } from './catalogue-participant.ts'
import { participantCallMutants } from './catalogue-participant-calls.ts'
import { ricartAgrawalaMutants } from './catalogue-ricart-agrawala.ts'
import { ricartAgrawalaGroupMutants } from './catalogue-ricart-agrawala-group.ts'
import { routerMutants } from './catalogue-router.ts'
import { safetyMutants } from './catalogue-safety.ts'
import { serviceMutants } from './catalogue-service.ts'
import { sessionCallMutants } from './catalogue-session-calls.ts'
import { strictMutants } from './catalogue-strict.ts'
import { toldMutants } from './catalogue-told.ts'
import { watcherMutants } from './catalogue-watchers.ts'
import { wmeConsensusMutants } from './catalogue-wme-consensus.ts'

export interface Mutant {
  readonly id: string
  /**
   * The rule that it takes away (docs/specification.md), like `A4`, and which part of it, like `W4 NEWEP`;
   * the section of the paper; or the subject, like `fence`.
   */
  readonly trap: string
  readonly title: string
  readonly file: string
  /** Whose judges must notice it, if the file is common to several protocols. Default: those of wme. */
  readonly subject?: Subject
  /** Occurs exactly once in the file. */
  readonly find: string
  readonly replace: string
  /** Why nothing can notice the mutant, if that is so. */
  readonly equivalent?: string
}

export const SUBJECTS = [
  'wme',
  'members',
  'wme-consensus',
  'ricart-agrawala',
  'maekawa',
  'lock-only',
  'birth',
  'participant',
  'service',
] as const

/**
 * Whose source it is: `lock-only` is the local queue that two protocols share, `participant` what is around a
 * protocol, `service` what is in front of the participants.
 */
export type Subject = (typeof SUBJECTS)[number]

/** Code that protocols share is mutated for the sake of the first one, unless a mutant names another. */
export const subjectOf = ({ file, trap, subject }: Mutant): Subject => {
  if (subject !== undefined) return subject
  // The rules of changing members are kept by many files of a protocol.
  if (/^M\d/.test(trap) && file.startsWith('shared/protocols/wme/')) return 'members'
  if (file.startsWith('shared/birth/')) return 'birth'
  if (file.startsWith('worker/participant/')) return 'participant'
  if (SERVICE.some(folder => file.startsWith(folder))) return 'service'
  return SUBJECTS.find(subject => file.startsWith(`shared/protocols/${subject}/`)) ?? 'wme'
}

const SERVICE = ['worker/', 'client/', 'shared/api/']

export const mutants: Mutant[] = [
  ...safetyMutants,
  ...livenessMutants,
  ...lossMutants,
  ...durabilityMutants,
  ...coreMutants,
  ...detectorMutants,
  ...messageMutants,
  ...memberMutants,
  ...otherMemberMutants,
  ...wmeConsensusMutants,
  ...ricartAgrawalaMutants,
  ...ricartAgrawalaGroupMutants,
  ...maekawaMutants,
  ...lockOnlyMutants,
  ...birthMutants,
  ...endMutants,
  ...journalMutants,
  ...laterMutants,
  ...participantMutants,
  ...participantCallMutants,
  ...bytesMutants,
  ...ghostMutants,
  ...routerMutants,
  ...serviceMutants,
  ...sessionCallMutants,
  ...toldMutants,
  ...holderMutants,
  ...watcherMutants,
  ...lifeMutants,
  ...movingMutants,
  ...lookingMutants,
  ...doubtMutants,
  ...olderMutants,
  ...callerMutants,
  ...strictMutants,
]
