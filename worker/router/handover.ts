/**
 * How a client gets a grant that it has waited for. It may have gone meanwhile, and then nobody is to hold
 * the lock in its name. A connection that was closed politely looks open until something is written to it,
 * and only a later write fails. So the answer is written in parts, its first two bytes one by one and then
 * the rest, with a moment in between. (There are two moments, because a process that has too much to do may
 * find the end of one before it finds the word from the network.) Then the participant is told that the grant
 * was taken; or, if the connection broke, that nobody wants it. If it is told neither, it ends the grant
 * within seconds (participant/core/handovers.ts).
 */
import { parseGrantId } from '../../shared/api/ids.ts'
import type { ParticipantAnswer, ParticipantCall } from '../participant/calls.ts'
import { respond } from './answers.ts'
import { type RouterContext, runLater, type Services } from './context.ts'

type Done = Extract<ParticipantAnswer, { readonly type: 'done' }>

/**
 * For the other machine's word that nobody is there. On the same machine it takes microseconds, unless that
 * has too much to do. A program that cannot spare two of these names its waiter, and confirms by itself.
 */
const MOMENT_MS = 5
/** The participant gives up after five seconds. */
const REPEATS = 3
const ANSWER_MS = 1_500

export function handOver(c: RouterContext, services: Services, lock: string, answer: Done): Response {
  const { grant } = answer.body as { readonly grant: { readonly id: string } }
  const { participant, user } = parseGrantId(grant.id)!
  const { body, isTaken } = inParts(JSON.stringify(answer.body))
  const tell = async (): Promise<void> => {
    const call = { type: (await isTaken) ? 'confirm' : 'withdraw', user } as const
    await repeat(services, lock, participant, call)
  }
  runLater(c, tell())
  return respond(c, answer.status, body)
}

interface Handover {
  readonly body: ReadableStream<Uint8Array>
  /** Whether somebody was there to take the whole of it. */
  readonly isTaken: Promise<boolean>
}

/**
 * Whoever asks for what comes after a part has taken that part: it was written, and the connection did not
 * break.
 */
function inParts(text: string): Handover {
  const bytes = new TextEncoder().encode(text)
  const parts = [bytes.subarray(0, 1), bytes.subarray(1, 2), bytes.subarray(2)]
  const { length } = parts
  let settle = (_: boolean) => {}
  const isTaken = new Promise<boolean>(resolve => {
    settle = resolve
  })
  let isGone = false
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (parts.length > 0 && parts.length < length)
          await new Promise(resolve => setTimeout(resolve, MOMENT_MS))
        if (isGone) return
        const part = parts.shift()
        if (part !== undefined) return controller.enqueue(part)
        controller.close()
        settle(true)
      },
      cancel() {
        isGone = true
        settle(false)
      },
    },
    { highWaterMark: 0 },
  )
  return { body, isTaken }
}

async function repeat(
  services: Services,
  lock: string,
  participant: number,
  call: ParticipantCall,
): Promise<void> {
  const { routing, caller } = services
  for (let count = 0; count < REPEATS; count++) {
    const answer = await routing.only(participant, {
      lock,
      from: () => null,
      limitMs: ANSWER_MS,
      ask: place => caller.call(lock, place, call, { limitMs: ANSWER_MS }),
    })
    if (answer.type !== 'problem' || answer.code !== 'no_quorum') return
  }
}
