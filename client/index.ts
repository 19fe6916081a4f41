/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The client. It uses `fetch` and standard types alone, and works in Workers, Node, Deno and browsers.
 *
 * @example
 * import { createBaton } from '@baton-lock/baton/client'
 *
 * const orders = createBaton({ url: 'https://baton.example.com', key }).lock('orders')
 * await orders.run(async held => {
 *   await held.apply([{ append: 'orders', value: { id: 1 } }, { increment: 'count' }])
 * })
 */
export type { Json } from '../shared/json.ts'
export type {
  AppendOp,
  AppendResult,
  DeleteOp,
  DeleteResult,
  GetOp,
  GetResult,
  IncrementOp,
  IncrementResult,
  KeyValueOp,
  NotApplied,
  OpError,
  PutOp,
  PutResult,
} from '../shared/resource/key-value.ts'
export type { AcquireOptions } from './acquire.ts'
export {
  type Baton,
  type BatonOptions,
  type Binding,
  createBaton,
  type Near,
  type ServiceAddress,
} from './baton.ts'
export { type Clock, systemClock } from './clock.ts'
export * from './errors.ts'
export { GrantById } from './grant.ts'
export { Held } from './held.ts'
export type { ListedLock, ListLocksOptions, LocksPage } from './listing.ts'
export { type DeleteOptions, type HoldOptions, Lock, type RunOptions, type SignalOptions } from './lock.ts'
export {
  type GrantedLock,
  type LockInfo,
  type LockMode,
  type LockRequestOptions,
  type LockSnapshot,
  Locks,
  type QueryOptions,
} from './locks.ts'
export type { ApplyOptions, TransactOptions } from './operations.ts'
export type { BatchResult, KeyValue, ResourceTypes, ResultOf, TransactResult } from './ops.ts'
export type { Get, GetOptions, ListOptions } from './reads.ts'
export type { RetryOptions } from './retry.ts'
export { Session, type SessionEvent, type Socket, type TryOptions } from './session.ts'
export type {
  InputsOf,
  OutputsOf,
  ResourceOf,
  SchemaIssue,
  SchemaResult,
  StandardSchema,
  StateMap,
  StateOp,
  StateSchemas,
} from './state.ts'
export type { Attributes, AttributeValue, Span, Tracer } from './tracing.ts'
export { ANSWER_HEADERS, type Fetch, REQUEST_HEADERS } from './transport.ts'
export type * from './types.ts'
export type { WatchOptions } from './watch.ts'
