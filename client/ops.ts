/**
 * Which result each op has, for the compiler: a batch of ops written in place gives a tuple of their results.
 */
import type {
  AppendResult,
  DeleteResult,
  GetResult,
  IncrementResult,
  KeyValueOp,
  NotApplied,
  OpError,
  OpResult,
  PutResult,
} from '../shared/resource/key-value.ts'
import type { StateGetResult } from './state.ts'

/**
 * What a lock guards, for the compiler: the ops of its resource, and what they answer when applied and when
 * not.
 */
export interface ResourceTypes {
  readonly op: unknown
  readonly result: unknown
  readonly refusal: unknown
}

/** The built-in resource. */
export interface KeyValue extends ResourceTypes {
  readonly op: KeyValueOp
  readonly result: OpResult
  readonly refusal: OpError | NotApplied
}

export type ResultOf<Op, Resource extends ResourceTypes = KeyValue> = Resource extends {
  readonly state: infer State
}
  ? Op extends { readonly get: unknown }
    ? StateGetResult<Op, State>
    : KeyValueResultOf<Op>
  : Resource extends KeyValue
    ? KeyValueResultOf<Op>
    : Resource['result']

type KeyValueResultOf<Op> = Op extends { readonly put: string }
  ? PutResult
  : Op extends { readonly delete: string }
    ? DeleteResult
    : Op extends { readonly get: string }
      ? GetResult
      : Op extends { readonly increment: string }
        ? IncrementResult
        : Op extends { readonly append: string }
          ? AppendResult
          : OpResult

/**
 * What became of a batch. A condition that does not hold is not an exception: the batch took its place in the
 * order (`sequence`), changed nothing, and the op that failed says why.
 */
export type BatchResult<Batch extends readonly unknown[], Resource extends ResourceTypes = KeyValue> =
  | {
      readonly applied: true
      readonly sequence: number
      readonly results: { readonly [Index in keyof Batch]: ResultOf<Batch[Index], Resource> }
    }
  | {
      readonly applied: false
      readonly sequence: number
      readonly results: { readonly [Index in keyof Batch]: Resource['refusal'] }
    }

/** The same, and the fence of the grant under which it was done. */
export type TransactResult<
  Batch extends readonly unknown[],
  Resource extends ResourceTypes = KeyValue,
> = BatchResult<Batch, Resource> & { readonly fence: number }
