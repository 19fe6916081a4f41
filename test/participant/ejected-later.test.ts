/** An operator ejects whoever is inside, and a participant that may have somebody inside is away. */
import { expect, it } from 'vitest'
import { MemoryPlatform } from './memory-platform.ts'

it.each(['ricart-agrawala', 'maekawa'] as const)(
  'regression: with %s nobody is ejected who came in long afterwards, and nobody is asked for ever',
  async protocol => {
    const platform = new MemoryPlatform(3, protocol)
    const acquire = (user: string) =>
      ({ type: 'acquire', user, waitMs: 5_000, ttlMs: 60_000, ticket: false, confirm: false }) as const
    const [asked, , away] = platform.nodes
    for (const node of platform.nodes) {
      const user = `user-${node.id}`
      const given = await platform.during(node.call(acquire(user)))
      expect(given).toMatchObject({ type: 'done' })
      const { fence } = (given as never as { body: { grant: { fence: number } } }).body.grant
      await platform.during(node.call({ type: 'release', user, fence }))
    }
    away!.isAway = true
    expect(await platform.during(asked!.call({ type: 'eject' }))).toMatchObject({ outcome: 'unknown' })
    await platform.advance(3_600_000)
    expect(asked!.wakesAt).toBe(Number.POSITIVE_INFINITY)
    away!.isAway = false
    expect(await platform.during(away!.call(acquire('late')))).toMatchObject({ type: 'done' })
    await platform.advance(20_000)
    const status = await platform.during(away!.call({ type: 'status' }))
    expect(status).toMatchObject({ body: { holder: { participant: away!.id } } })
  },
)
