/** The files that mutants change, and text of several lines. */
const folder = 'shared/protocols/wme'

export const WME = {
  catchUp: `${folder}/catch-up.ts`,
  commit: `${folder}/commit.ts`,
  distributed: `${folder}/figure-1-acknowledgement.ts`,
  normal: `${folder}/figure-1-normal-phase.ts`,
  termination: `${folder}/figure-2-termination.ts`,
  centralised: `${folder}/figure-4-acknowledgement.ts`,
  fence: `${folder}/fence.ts`,
  grants: `${folder}/grants.ts`,
  log: `${folder}/log.ts`,
  paxos: `${folder}/paxos.ts`,
  preVote: `${folder}/pre-vote.ts`,
  reads: `${folder}/reads.ts`,
  records: `${folder}/records.ts`,
  repeat: `${folder}/repeat.ts`,
  soft: `${folder}/soft.ts`,
  step: 'shared/protocols/step.ts',
  stubStep: `${folder}/step.ts`,
  users: `${folder}/users.ts`,
  wme: `${folder}/wme.ts`,
} as const

export const lines = (...text: string[]): string => text.join('\n')
