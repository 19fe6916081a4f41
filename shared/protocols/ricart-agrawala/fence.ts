/**
 * The fence of a grant is the grant's place in the order that the algorithm itself makes: the sequence number
 * of the node's request, then the node's name, then the place among the users that were let in under this
 * request.
 *
 * It grows along the serial order. Let A be inside before B, for requests a and b, and let one of them be a
 * writer. A had a REPLY from B, so B had processed a. If B had not chosen b yet, then b > a, because a counts
 * in B's highest number, which was durable before the REPLY. If B had chosen b, it did not defer, so it had a
 * later (number, name) than A. If B sent the REPLY when it left with b, then B was inside before A. So the
 * larger pair is the later grant. And no two requests have the same pair: a node's own numbers count in its
 * highest number, durable before the first REQUEST.
 *
 * The paper's modifications keep this, because it rests on what each node has processed and not on what a
 * REPLY says:
 *   - an implicit reply (6.1) says nothing, but a node that is silent has processed the request;
 *   - on a ring (6.3) every node processes the request when it passes;
 *   - with a modulus (6.4) the number's lap counts here; with other increments (6.5) numbers still only grow;
 *   - readers (6.6) do not wait for one another: the fences of two readers without a writer between them
 *     differ, but do not say who came first. Towards every writer, before or after, the argument above holds;
 *   - a new node (7.2) begins above every number that any member has seen or used, and so does a node that
 *     was wiped: whatever its earlier life was granted, the members had processed. The same holds for a node
 *     that was declared dead (7.4). A count that travels with the REPLYs would survive neither implicit
 *     replies nor the wiping of the node that was inside last.
 */
import { assert } from '../step.ts'

/** Names are smaller than this. */
export const NAMES = 1_024

/** Grants under one request; after that the node leaves and asks again. */
export const GRANTS_PER_REQUEST = 64

const LARGEST_REQUEST = Math.floor(Number.MAX_SAFE_INTEGER / (NAMES * GRANTS_PER_REQUEST)) - 1

/** The fences of all higher requests are above this one. */
export const requestBelow = (fence: number): number => Math.floor(fence / (NAMES * GRANTS_PER_REQUEST))

export function fenceOf(request: number, name: number, grant: number): number {
  assert(request <= LARGEST_REQUEST, 'the sequence numbers of this lock are used up')
  assert(name < NAMES && grant < GRANTS_PER_REQUEST, 'a fence has room for its parts')
  return (request * NAMES + name) * GRANTS_PER_REQUEST + grant
}
