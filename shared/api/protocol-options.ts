/**
 * Which protocols a lock may have, and which of their variants it may choose. The protocol says which of them
 * go together.
 */
import * as z from 'zod'
import type { ProtocolName, ProtocolOptions } from '../protocols/protocol.ts'
import { component } from './primitives.ts'

const NAMES = [
  'wme-1',
  'wme-2',
  'wme-consensus',
  'ricart-agrawala',
  'maekawa',
] as const satisfies readonly ProtocolName[]

export const protocolName = z
  .enum(NAMES)
  .describe(
    'wme-1 and wme-2 guard state and survive the loss of a minority of the participants. wme-consensus is the slower ' +
      'baseline they are compared with. ricart-agrawala and maekawa are locks alone: they guard no state, and need all (or ' +
      'their own set of) participants.',
  )

const milliseconds = z.int().min(1).max(600_000)
const numbers = z.array(z.int()).max(1_024)

export const protocolOptions = component(
  'ProtocolOptions',
  z.strictObject({
    majorityFirst: z
      .boolean()
      .optional()
      .describe(
        'wme-2: an operation goes at once to just as many participants as make a majority, the quickest ones, and to the ' +
          'rest about 20 ms later. Default: true. With false it goes to all at once.',
      ),
    consensus: z
      .enum(['latency-optimal', 'message-optimal'])
      .optional()
      .describe('wme-consensus: three steps and N² messages, or four steps and a multiple of N.'),
    implicitReply: z
      .strictObject({
        roundTripMs: milliseconds.describe('How long an answer can take at the most.'),
        assumeNothingIsLostOrLate: z.literal(true),
      })
      .optional()
      .describe('ricart-agrawala 6.1: silence is a reply. Unsafe when a message is lost or late.'),
    ring: z
      .enum(['waiting', 'marking'])
      .optional()
      .describe('ricart-agrawala 6.3: requests travel around a ring.'),
    modulus: z.int().optional().describe('ricart-agrawala 6.4: sequence numbers modulo this, at least 2N-1.'),
    increment: z
      .union([
        z.strictObject({ type: z.literal('random'), most: z.int().describe('At most this far.') }),
        z.strictObject({
          type: z.literal('priority'),
          by: numbers.describe('How far, for each participant.'),
        }),
      ])
      .optional()
      .describe('ricart-agrawala 6.5: how far a new sequence number goes beyond the highest seen.'),
    names: numbers
      .optional()
      .describe("ricart-agrawala 7.1: what breaks ties instead of the participants' numbers."),
    declareDeadAfterMs: milliseconds
      .optional()
      .describe(
        'ricart-agrawala 7.4: who is silent for so long counts as dead. Unsafe when the network splits.',
      ),
  }),
)

/** The schema knows every option that protocols have. */
type Known = keyof z.infer<typeof protocolOptions>
null as unknown as keyof ProtocolOptions satisfies Known
