/** What a participant says to the ledger of its own process, which is an object like itself. */
import type { LedgerAnswer, LedgerQuestion } from '../../../shared/birth/ledger-types.ts'
import type { Turns } from '../core/turns.ts'
import { PEER_TIME_LIMIT_MS } from '../peers/exchange.ts'
import type { LedgerRequest, PeerAnswer } from '../peers/requests.ts'
import type { Runtime } from '../runtime.ts'
import { LEDGER_NAME } from './name.ts'

export class LedgerCalls {
  private readonly runtime: Runtime
  private readonly turns: Turns
  private readonly id: number
  private readonly onAnswer: (answer: LedgerAnswer) => void

  constructor(runtime: Runtime, turns: Turns, id: number, onAnswer: (answer: LedgerAnswer) => void) {
    this.runtime = runtime
    this.turns = turns
    this.id = id
    this.onAnswer = onAnswer
  }

  /** Called in a turn. The question leaves when the token that it carries is written. */
  ask(question: LedgerQuestion): void {
    this.turns.afterwards(() => this.runtime.background(this.askAndHear(question)))
  }

  tell(lock: string, generation: number, incarnation: number): void {
    const told = () => this.call({ type: 'tell-ledger', lock, generation, incarnation }).then(() => undefined)
    // A ledger that did not hear it asks for it again.
    this.turns.afterwards(() => this.runtime.background(told().catch(() => undefined)))
  }

  private async askAndHear(question: LedgerQuestion): Promise<void> {
    const answer = await this.call({ type: 'ask-ledger', question }).catch(() => null)
    const { generation, token } = question
    const silence: LedgerAnswer = {
      generation,
      token,
      verdict: 'not-ready',
      detail: 'The ledger of this process does not answer.',
      incarnation: 0,
      known: {},
    }
    this.turns.run(() => this.onAnswer(answer?.type === 'ledger-answer' ? answer.answer : silence))
  }

  private call(request: LedgerRequest): Promise<PeerAnswer> {
    const here = { id: this.id, location: null, url: null }
    return this.runtime.peers.ask(LEDGER_NAME, here, request, PEER_TIME_LIMIT_MS)
  }
}
