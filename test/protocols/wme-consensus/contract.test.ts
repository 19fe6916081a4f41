/** What `wme-consensus` has in common with all protocols, in both forms. */
import { skipLockOnly } from '../contract/abilities.ts'
import { skipStaying } from '../contract/members.ts'
import { keepsContract, READERS } from '../contract/suite.ts'
import { FORMS } from './scenes.ts'

const skips = {
  ...skipLockOnly('it guards state'),
  ...skipStaying(),
  [READERS]: 'every user is a writer',
}

for (const consensus of FORMS)
  keepsContract(`wme-consensus, ${consensus}`, { protocol: 'wme-consensus', options: { consensus }, skips })
