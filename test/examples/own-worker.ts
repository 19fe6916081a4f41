/** Another Worker with Baton in it: the locks are below one of its paths, and it uses them itself. */
import { createBaton } from '../../client/index.ts'
import { type BatonEnvironment, defineBaton } from '../../worker/library.ts'
import { type Account, account } from './account.ts'

const baton = defineBaton({
  basePath: '/locks-api',
  resources: [account],
  resourceOf: lock => (lock.startsWith('account-') ? 'account' : 'key-value'),
})

export const BatonParticipant = baton.Participant

export default {
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname.startsWith('/locks-api/')) return baton.fetch(request, env, ctx)
    if (pathname !== '/bonus') return new Response('nothing here', { status: 404 })
    const customer = searchParams.get('customer')
    const locks = createBaton({ fetch: baton.fetchInside(env, request) })
    const options = { opId: `bonus/${customer}` }
    const { results } = await locks.lock<Account>(`account-${customer}`).transact([{ deposit: 500 }], options)
    return Response.json(results[0])
  },
} satisfies ExportedHandler<BatonEnvironment>
