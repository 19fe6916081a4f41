/** What `ricart-agrawala` has in common with all protocols, as printed and with its modifications. */
import { skipGuarded } from '../contract/abilities.ts'
import { skipChanging, skipStaying } from '../contract/members.ts'
import { keepsContract, NO_READERS, READERS } from '../contract/suite.ts'

const guarded = skipGuarded('it guards no state')
const skips = { ...guarded, ...skipStaying(), [NO_READERS]: 'it has readers (6.6)' }

keepsContract('ricart-agrawala', { protocol: 'ricart-agrawala', skips })
keepsContract('ricart-agrawala, on a ring where requests wait (6.3)', {
  protocol: 'ricart-agrawala',
  options: { ring: 'waiting' },
  skips,
})
keepsContract('ricart-agrawala, on a ring where requests are marked (6.3)', {
  protocol: 'ricart-agrawala',
  options: { ring: 'marking' },
  skips,
})
keepsContract('ricart-agrawala, with bounded numbers (6.4)', {
  protocol: 'ricart-agrawala',
  options: { modulus: 64 },
  skips: {
    ...guarded,
    ...skipChanging('with a modulus the members stay (6.4)'),
    [READERS]: 'with a modulus every user is a writer (6.4)',
  },
})
