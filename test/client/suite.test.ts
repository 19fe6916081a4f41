import { createFakeServer } from './fake-server.ts'
import { describeClient } from './suite.ts'
import { VirtualClock } from './virtual-clock.ts'

describeClient(
  'a service in memory',
  async () => {
    const clock = new VirtualClock()
    return { fetch: createFakeServer({ clock }).fetch, clock, stop: async () => clock.stop() }
  },
  { propertyRuns: 200 },
)
