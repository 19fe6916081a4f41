/**
 * What a lock guards, for the compiler: `baton.lock<State>('orders')` knows which keys there are and what
 * they hold. With schemas it is also checked at run time, by any library that speaks Standard Schema
 * (standardschema.dev: zod, valibot, arktype).
 */
import type { Json } from '../shared/json.ts'
import type {
  DeleteOp,
  GetOp,
  IncrementOp,
  NotApplied,
  OpError,
  OpResult,
} from '../shared/resource/key-value.ts'
import type { ResourceTypes } from './ops.ts'

/**
 * The built-in map with keys and values that are known. `Input` is what is written, if a schema makes
 * something else of it.
 */
export interface StateMap<State extends object, Input extends object = State> extends ResourceTypes {
  readonly op: StateOp<Input>
  readonly result: OpResult
  readonly refusal: OpError | NotApplied
  readonly state: State
}

/** A resource as it is; anything else is the type of a state. */
export type ResourceOf<Guarded extends object> = Guarded extends ResourceTypes ? Guarded : StateMap<Guarded>

export type KeyOf<State> = keyof State & string

type KeysWith<State, Value> = {
  [Key in KeyOf<State>]: State[Key] extends Value ? Key : never
}[KeyOf<State>]

type PutOf<State> = {
  [Key in KeyOf<State>]: { readonly put: Key; readonly value: State[Key]; readonly ifRevision?: number }
}[KeyOf<State>]

type AppendOf<State> = {
  [Key in KeysWith<State, readonly unknown[]>]: {
    readonly append: Key
    readonly value: State[Key] extends readonly (infer Element)[] ? Element : never
  }
}[KeysWith<State, readonly unknown[]>]

export type StateOp<State extends object> =
  | PutOf<State>
  | (Omit<DeleteOp, 'delete'> & { readonly delete: KeyOf<State> })
  | (Omit<GetOp, 'get'> & { readonly get: KeyOf<State> })
  | (Omit<IncrementOp, 'increment'> & { readonly increment: KeysWith<State, number> })
  | AppendOf<State>

/** The result of a `get`, which depends on the type of its key. */
export type StateGetResult<Op, State> = Op extends { readonly get: infer Key extends keyof State }
  ? { readonly value: State[Key] | null; readonly revision: number }
  : never

/** Any value of the map. */
export type ValueIn<Resource extends ResourceTypes> = Resource extends { readonly state: infer State }
  ? State[keyof State]
  : Json

// ---------------------------------------------------------------- schemas

/** The part of Standard Schema (version 1) that is used here. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** By key; `user/*` stands for all keys that begin with `user/`. */
export type StateSchemas = { readonly [key: string]: StandardSchema }

type KeyOfPattern<Pattern> = Pattern extends `${infer Prefix}*` ? `${Prefix}${string}` : Pattern
type TypesOf<Schema> = Schema extends { readonly '~standard': { readonly types?: infer Types } }
  ? NonNullable<Types>
  : never

export type OutputsOf<Schemas extends StateSchemas> = {
  readonly [Pattern in keyof Schemas as KeyOfPattern<Pattern> & string]: TypesOf<Schemas[Pattern]> extends {
    readonly output: infer Output
  }
    ? Output
    : never
}

export type InputsOf<Schemas extends StateSchemas> = {
  readonly [Pattern in keyof Schemas as KeyOfPattern<Pattern> & string]: TypesOf<Schemas[Pattern]> extends {
    readonly input: infer Input
  }
    ? Input
    : never
}
