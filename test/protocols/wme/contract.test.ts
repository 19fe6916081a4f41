/** What `wme-1` and `wme-2` have in common with all protocols. */
import { skipLockOnly } from '../contract/abilities.ts'
import { skipStaying } from '../contract/members.ts'
import { keepsContract, READERS } from '../contract/suite.ts'

const skips = {
  ...skipLockOnly('it guards state'),
  ...skipStaying(),
  [READERS]: 'every user is a writer',
}

keepsContract('wme-1', { protocol: 'wme-1', skips })
keepsContract('wme-2', { protocol: 'wme-2', skips })
keepsContract('wme-2, operations to all at once', {
  protocol: 'wme-2',
  options: { majorityFirst: false },
  skips,
})
