import { createFakeServer } from '../client/fake-server.ts'
import { VirtualClock } from '../client/virtual-clock.ts'
import { describeRecipes } from './suite.ts'

describeRecipes('a service in memory', async () => {
  const clock = new VirtualClock()
  return { fetch: createFakeServer({ clock }).fetch, clock, stop: async () => clock.stop() }
})
