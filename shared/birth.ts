/**
 * The birth of a lock: its participants must agree on one configuration, though nobody may have configured it, or two people
 * at once, and though some participant may be down. The participants that every lock has by default are its registrars; they
 * choose the configuration by single-decree Paxos, written here as functions of an acceptor's record.
 */

/** What a registrar must not forget. Ballot 0 is before all. */
export interface RegistrarRecord<Value> {
  readonly promised: number
  readonly accepted: { readonly ballot: number; readonly value: Value } | null
}

export const NEW_REGISTRAR: RegistrarRecord<never> = { promised: 0, accepted: null }

/** `record` is to be durable before the answer leaves. */
export interface RegistrarStep<Value> {
  readonly record: RegistrarRecord<Value>
  readonly answer: RegistrarAnswer<Value>
}

export type RegistrarAnswer<Value> =
  | { readonly ok: true; readonly accepted: RegistrarRecord<Value>['accepted'] }
  | { readonly ok: false; readonly promised: number }

export function prepare<Value>(record: RegistrarRecord<Value>, ballot: number): RegistrarStep<Value> {
  if (ballot <= record.promised) return { record, answer: { ok: false, promised: record.promised } }
  return { record: { ...record, promised: ballot }, answer: { ok: true, accepted: record.accepted } }
}

export function accept<Value>(
  record: RegistrarRecord<Value>,
  ballot: number,
  value: Value,
): RegistrarStep<Value> {
  if (ballot < record.promised) return { record, answer: { ok: false, promised: record.promised } }
  const accepted = { ballot, value }
  return { record: { promised: ballot, accepted }, answer: { ok: true, accepted } }
}

/** The value to propose after a majority has promised: what may have been chosen already, else one's own. */
export function valueToPropose<Value>(promises: readonly RegistrarAnswer<Value>[], own: Value): Value {
  let highest: { readonly ballot: number; readonly value: Value } | null = null
  for (const promise of promises) {
    if (!promise.ok || promise.accepted === null) continue
    if (highest === null || promise.accepted.ballot > highest.ballot) highest = promise.accepted
  }
  return highest === null ? own : highest.value
}

/** Ballots of different proposers differ: the proposer's number is the last digit. */
export function ballotAbove(highest: number, proposer: number): number {
  return (Math.floor(highest / 256) + 1) * 256 + proposer
}
