/** The pages of a history end, whoever answers. */
import { expect, it } from 'vitest'
import { createBaton } from '../../client/index.ts'

it('a page on which nobody answered is the last one, although it has a cursor', async () => {
  const participants = [{ id: 1, reachable: false, events: [] }]
  const page = { lock: 'test', protocol: 'wme-2', resource: 'key-value', participants, cursor: 'next' }
  let asked = 0
  const fetch = () => {
    if (++asked > 3) throw new Error('asked again and again')
    return Response.json(page)
  }
  const history = await createBaton({ fetch }).lock('test').history()
  expect(history.participants).toEqual(participants)
  expect(asked).toBe(1)
})
