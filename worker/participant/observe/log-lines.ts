/**
 * One line for each ejection, expiry and change of epoch. They leave like messages do: once the turn is
 * written.
 */
import { type LogEvent, type LogFields, logEntry } from '../../../shared/log.ts'
import type { StepReport } from '../core/member.ts'
import type { Turns } from '../core/turns.ts'
import type { Address } from '../lock/lock.ts'
import type { Runtime } from '../runtime.ts'
import type { Caller } from './callers.ts'

export interface LogLinesHost {
  readonly runtime: Runtime
  readonly turns: Turns
  readonly address: Address
  callerOf(user: string): Caller | undefined
}

export class LogLines {
  private readonly host: LogLinesHost

  constructor(host: LogLinesHost) {
    this.host = host
  }

  /** In a turn, before anybody forgets who the users were. */
  onStep({ ended, epoch }: StepReport): void {
    for (const { user, fence, cause, heldMs } of ended) {
      const fields = { fence, cause, heldMs: heldMs ?? undefined, ...this.host.callerOf(user) }
      this.later(cause === 'expired' ? 'expired' : 'ejected', fields)
    }
    if (epoch !== null) this.later('epoch', { ...epoch, owner: epoch.owner ?? undefined })
  }

  /** Of an operator's call that was answered. */
  eject(caller: Caller, fence: number | null, epoch: number): void {
    this.write('eject', { fence: fence ?? undefined, epoch, ...caller })
  }

  private later(event: LogEvent, fields: LogFields): void {
    this.host.turns.afterwards(() => this.write(event, fields))
  }

  private write(event: LogEvent, fields: LogFields): void {
    const { lock, id } = this.host.address
    this.host.runtime.log(logEntry(event, { lock, participant: id, ...fields }))
  }
}
