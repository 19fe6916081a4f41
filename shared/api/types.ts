/** The types of the public contract, from its schemas. */
import type * as z from 'zod'
import type * as answers from './answer-schemas.ts'
import type { exportAnswer } from './moving-schemas.ts'
import type * as requests from './requests.ts'

/** What a caller may leave out is optional. */
export type ConfigureRequest = z.input<typeof requests.configureBody>
export type AcquireRequest = z.input<typeof requests.acquireBody>
export type OpsRequest = z.input<typeof requests.opsBody>
export type TransactRequest = z.input<typeof requests.transactBody>
export type KeepaliveRequest = z.input<typeof requests.keepaliveBody>
export type ParticipantsRequest = z.input<typeof requests.participantsBody>
export type TicketQuery = z.input<typeof requests.ticketQuery>
export type StateQuery = z.input<typeof requests.stateQuery>
export type ListQuery = z.input<typeof requests.listQuery>
export type WatchQuery = z.input<typeof requests.watchQuery>

export type Grant = z.output<typeof answers.grant>
export type Ticket = z.output<typeof answers.ticket>
export type Holder = z.output<typeof answers.holder>
export type GrantAnswer = z.output<typeof answers.grantAnswer>
export type TicketAnswer = z.output<typeof answers.ticketAnswer>
export type OpsAnswer = z.output<typeof answers.opsAnswer>
export type TransactAnswer = z.output<typeof answers.transactAnswer>
export type KeepaliveAnswer = z.output<typeof answers.keepaliveAnswer>
export type StateAnswer = z.output<typeof answers.stateAnswer>
export type ListAnswer = z.output<typeof answers.listAnswer>
export type ConfigurationAnswer = z.output<typeof answers.configurationAnswer>
export type ParticipantView = z.output<typeof answers.participantView>
export type StatusAnswer = z.output<typeof answers.statusAnswer>
export type LocksAnswer = z.output<typeof answers.locksAnswer>
export type LockExport = z.output<typeof exportAnswer>
export type HistoryAnswer = z.output<typeof answers.historyAnswer>
export type EjectAnswer = z.output<typeof answers.ejectAnswer>
export type HomeAnswer = z.output<typeof answers.homeAnswer>
export type ParticipantsAnswer = z.output<typeof answers.participantsAnswer>
