/** `baton release <lock> <grant>`. */
import { parseGrantId } from '../../shared/api/ids.ts'
import { UsageError } from '../arguments.ts'
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { grantFor } from '../grant-in-use.ts'

export const release = defineCommand({
  name: 'release',
  words: ['<lock>', '[grant]'],
  summary: 'release a lock that `acquire` left held',
  description: `Gives the lock to the next. The grant is what \`baton acquire\` printed; without it, the one in BATON_GRANT.`,
  options: {},
  examples: ['baton release orders 1-3-I8vPWHEKq0'],
  async run({ lock, output, environment }, { words }) {
    const [name, given] = words as [string, string | undefined]
    const id = given ?? grantFor(name, environment)
    if (id === undefined) throw new UsageError('which grant? `baton acquire` printed its id')
    if (parseGrantId(id) === null) throw new UsageError(`'${id}' is not the id of a grant`)
    await lock(name).grant(id).release()
    output.result({ released: true, lock: name, grant: id }, ['released'])
    return EXIT.done
  },
})
