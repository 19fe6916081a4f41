/** What `maekawa` has in common with all protocols. */
import { skipGuarded } from '../contract/abilities.ts'
import { skipChanging } from '../contract/members.ts'
import { keepsContract, READERS } from '../contract/suite.ts'

keepsContract('maekawa', {
  protocol: 'maekawa',
  skips: {
    ...skipGuarded('it guards no state'),
    ...skipChanging('its members stay'),
    [READERS]: 'an arbiter is locked for one request at a time',
  },
})
