/** What a router says to whom: signed addresses, names in cursors, tags of values, imports. */
import type { Mutant } from './catalogue.ts'

const signatures: Mutant[] = [
  {
    id: 'signature-without-address',
    trap: 'strangers',
    title: 'the address of a participant that came later is not signed',
    file: 'worker/signature.ts',
    find: 'address === null ? [2, []] : [3, [address]]',
    replace: 'address === null ? [2, []] : [2, []]',
  },
  {
    id: 'signature-of-an-empty-address',
    trap: 'strangers',
    title: 'an address is added to a request that was signed without one, by an empty one',
    file: 'worker/signature.ts',
    find: 'address === null ? [2, []] : [3, [address]]',
    replace: '!address ? [2, []] : [3, [address]]',
  },
]

export const routerMutants: Mutant[] = [...signatures]
