// Makes a key and its entry for the secret BATON_KEYS (see docs/keys.md). Plain JavaScript, Node's modules alone.
//
//   node worker/local/make-key.mjs --name checkout --locks 'orders,stock-*' --verbs acquire,read
import { createHash, randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'

const VERBS = ['acquire', 'read', 'watch', 'history', 'configure', 'eject', 'metrics', '*']
const { values } = parseArgs({
  options: {
    name: { type: 'string', default: 'key' },
    locks: { type: 'string', default: '*' },
    verbs: { type: 'string', default: '*' },
  },
})
const locks = values.locks.split(',')
const verbs = values.verbs.split(',')
const unknown = verbs.filter(verb => !VERBS.includes(verb))
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}. The verbs are ${VERBS.join(' ')}`)
  process.exit(1)
}

const key = `baton_${randomBytes(32).toString('base64url')}`
const hash = createHash('sha256').update(key).digest('hex')
const entry = { name: values.name, hash, locks, verbs }

// The key goes to whoever uses it, and is shown only here; the entry goes into the secret, in a list with the others.
console.log(`key    ${key}`)
console.log(`entry  ${JSON.stringify(entry)}`)
