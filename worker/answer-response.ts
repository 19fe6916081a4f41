/**
 * How an answer travels to the router. Most of what a participant answers is what the client gets, so the
 * router asks for it as it is (`asItIs` in its request): then the status is the answer's own, and the body is
 * written once, here, and read by nobody before the client. Everything else comes as a `ParticipantAnswer`.
 * The type of the body says which of the two it is, because signatures cover status and type.
 */
import type { ParticipantAnswer } from './participant/calls.ts'

export const AS_IT_IS = 'application/vnd.baton.as-it-is+json'

export function answerResponse(answer: ParticipantAnswer, asItIs: boolean): Response {
  // A grant that must be handed over is read by the router, which says afterwards what became of it.
  if (!asItIs || answer.type !== 'done' || answer.isUntaken) return Response.json(answer)
  const { status, body } = answer
  if (status === 204) return new Response(null, { status })
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': AS_IT_IS } })
}
