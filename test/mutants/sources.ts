/** The files that mutants change, and text of several lines. */
const folder = 'shared/protocols/wme'

export const WME = {
  catchUp: `${folder}/catch-up.ts`,
  change: `${folder}/change-of-members.ts`,
  changeRequests: `${folder}/change-requests.ts`,
  requestedChanges: `${folder}/requested-changes.ts`,
  commit: `${folder}/commit.ts`,
  distributed: `${folder}/figure-1-acknowledgement.ts`,
  normal: `${folder}/figure-1-normal-phase.ts`,
  termination: `${folder}/figure-2-termination.ts`,
  centralised: `${folder}/figure-4-acknowledgement.ts`,
  fence: `${folder}/fence.ts`,
  grants: `${folder}/grants.ts`,
  handover: `${folder}/handover.ts`,
  learner: `${folder}/learner.ts`,
  log: `${folder}/log.ts`,
  members: `${folder}/members.ts`,
  membership: `${folder}/membership.ts`,
  outsiders: `${folder}/outsiders.ts`,
  paxos: `${folder}/paxos.ts`,
  preVote: `${folder}/pre-vote.ts`,
  reads: `${folder}/reads.ts`,
  records: `${folder}/records.ts`,
  repeat: `${folder}/repeat.ts`,
  replicate: `${folder}/replicate.ts`,
  roundTrips: `${folder}/round-trips.ts`,
  soft: `${folder}/soft.ts`,
  step: 'shared/protocols/step.ts',
  stubStep: `${folder}/step.ts`,
  users: `${folder}/users.ts`,
  wme: `${folder}/wme.ts`,
} as const

/** What several protocols share. */
export const SHARED = {
  asking: 'shared/protocols/asking.ts',
  ballots: 'shared/protocols/ballots.ts',
  dispatch: 'shared/protocols/dispatch.ts',
  logWeight: 'shared/protocols/log-weight.ts',
  refusals: 'shared/protocols/refusals.ts',
  retransmission: 'shared/protocols/retransmission.ts',
  snapshots: 'shared/protocols/snapshots.ts',
  waitingUsers: 'shared/protocols/waiting-users.ts',
} as const

/** What the protocols share whose members change. */
export const MEMBERS = {
  changes: 'shared/protocols/members/changes.ts',
  handover: 'shared/protocols/members/handover.ts',
  requests: 'shared/protocols/members/requests.ts',
} as const

/** What the protocols share that guard state. */
export const GUARDED = {
  grants: 'shared/protocols/guarded/grants.ts',
  replicaRecords: 'shared/protocols/guarded/replica-records.ts',
} as const

const consensus = 'shared/protocols/wme-consensus'

export const CONSENSUS = {
  candidacy: `${consensus}/candidacy.ts`,
  changes: `${consensus}/change-of-members.ts`,
  catchUp: `${consensus}/catch-up.ts`,
  commands: `${consensus}/commands.ts`,
  grants: `${consensus}/grants.ts`,
  handover: `${consensus}/handover.ts`,
  instances: `${consensus}/instances.ts`,
  learner: `${consensus}/learner.ts`,
  log: `${consensus}/log.ts`,
  operators: `${consensus}/operators.ts`,
  reads: `${consensus}/reads.ts`,
  repeat: `${consensus}/repeat.ts`,
  requests: `${consensus}/requests.ts`,
  machine: `${consensus}/state-machine.ts`,
  step: `${consensus}/step.ts`,
  suspicion: `${consensus}/suspicion.ts`,
  users: `${consensus}/users.ts`,
  waiting: `${consensus}/waiting.ts`,
  main: `${consensus}/wme-consensus.ts`,
} as const

const ricartAgrawala = 'shared/protocols/ricart-agrawala'

export const RICART_AGRAWALA = {
  fence: `${ricartAgrawala}/fence.ts`,
  group: `${ricartAgrawala}/group.ts`,
  change: `${ricartAgrawala}/group-change.ts`,
  members: `${ricartAgrawala}/members.ts`,
  proceed: `${ricartAgrawala}/proceed.ts`,
  records: `${ricartAgrawala}/records.ts`,
  repeat: `${ricartAgrawala}/repeat.ts`,
  main: `${ricartAgrawala}/ricart-agrawala.ts`,
  algorithm: `${ricartAgrawala}/section-2-algorithm.ts`,
  rule: `${ricartAgrawala}/section-2-rule.ts`,
  implicit: `${ricartAgrawala}/section-6-1-implicit-reply.ts`,
  ring: `${ricartAgrawala}/section-6-3-ring.ts`,
  numbers: `${ricartAgrawala}/section-6-4-numbers.ts`,
  insertion: `${ricartAgrawala}/section-7-2-insertion.ts`,
  removal: `${ricartAgrawala}/section-7-3-removal.ts`,
  failures: `${ricartAgrawala}/section-7-4-failures.ts`,
  step: `${ricartAgrawala}/step.ts`,
} as const

const maekawa = 'shared/protocols/maekawa'

export const MAEKAWA = {
  degenerate: `${maekawa}/sets/degenerate.ts`,
  main: `${maekawa}/maekawa.ts`,
  plane: `${maekawa}/sets/projective-plane.ts`,
  precedence: `${maekawa}/precedence.ts`,
  records: `${maekawa}/records.ts`,
  repeat: `${maekawa}/repeat.ts`,
  arbiter: `${maekawa}/section-4-arbiter.ts`,
  requester: `${maekawa}/section-4-requester.ts`,
  step: `${maekawa}/step.ts`,
  verify: `${maekawa}/sets/verify.ts`,
} as const

const lockOnly = 'shared/protocols/lock-only'

export const LOCK_ONLY = {
  localQueue: `${lockOnly}/local-queue.ts`,
  operators: `${lockOnly}/operators.ts`,
  users: `${lockOnly}/users.ts`,
} as const

const birth = 'shared/birth'

export const BIRTH = {
  core: `${birth}/lock-core.ts`,
  drive: `${birth}/drive.ts`,
  entitlement: `${birth}/entitlement.ts`,
  ending: `${birth}/ending.ts`,
  generation: `${birth}/generation.ts`,
  finishing: `${birth}/finishing.ts`,
  founding: `${birth}/founding.ts`,
  healing: `${birth}/healing.ts`,
  ledger: `${birth}/ledger.ts`,
  ledgerState: `${birth}/ledger-state.ts`,
  lock: `${birth}/lock.ts`,
  receive: `${birth}/receive.ts`,
  register: `${birth}/register.ts`,
  state: `${birth}/lock-state.ts`,
  value: `${birth}/value.ts`,
} as const

const participant = 'worker/participant'

export const PARTICIPANT = {
  beforeBirths: `${participant}/core/before-births.ts`,
  checkpoint: `${participant}/core/checkpoint.ts`,
  engine: `${participant}/core/engine.ts`,
  eventLog: `${participant}/core/event-log.ts`,
  exchange: `${participant}/peers/exchange.ts`,
  journal: `${participant}/core/journal.ts`,
  keeper: `${participant}/ledger/keeper.ts`,
  ledgerCalls: `${participant}/ledger/calls.ts`,
  lock: `${participant}/lock/lock.ts`,
  member: `${participant}/core/member.ts`,
  parts: `${participant}/parts.ts`,
  read: `${participant}/calls/read.ts`,
  refusals: `${participant}/calls/refusals.ts`,
  connections: `${participant}/core/connections.ts`,
  once: `${participant}/calls/once.ts`,
  places: `${participant}/core/places.ts`,
  replay: `${participant}/streams/replay.ts`,
  segments: `${participant}/core/segments.ts`,
  sessions: `${participant}/streams/sessions.ts`,
  storage: `${participant}/core/storage.ts`,
  clock: `${participant}/core/clock.ts`,
  timers: `${participant}/core/timers.ts`,
  turns: `${participant}/core/turns.ts`,
  watchers: `${participant}/streams/watchers.ts`,
} as const

export const lines = (...text: string[]): string => text.join('\n')
