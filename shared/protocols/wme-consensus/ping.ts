/** Asking a participant whether it is there, and saying that one is. */
import * as detector from '../../detector.ts'
import type { ParticipantId } from '../protocol.ts'
import { type Step, send } from './step.ts'

/** How far this participant is, which every such message says. */
export function position({ state }: Step): { ballot: number; decided: number } {
  const { acceptor, machine } = state.durable
  return { ballot: acceptor.promised, decided: machine.applied }
}

export function sendPing(step: Step, peer: ParticipantId): void {
  const ping = detector.noteAsked(step.state.soft.detector, peer, step.now)
  send(step, peer, { type: 'ping', ...position(step), ping })
}

export function sendAlive(step: Step, to: ParticipantId, ping?: number): void {
  send(step, to, { type: 'alive', ...position(step), ...(ping === undefined ? {} : { ping }) })
}
