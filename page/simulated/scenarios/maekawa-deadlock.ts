/** Three nodes ask at once, each locks one arbiter, and nobody could go on. */
import type { Scenario } from './stage.ts'

export const maekawaDeadlock: Scenario = {
  name: 'maekawa-deadlock',
  title: 'Maekawa’s deadlock avoided',
  summary: 'Three nodes ask at once and block each other in a circle. INQUIRE and RELINQUISH open it.',
  setup: { protocol: 'maekawa', participants: 4, seed: 1 },
  play(stage) {
    stage.say(
      'Maekawa’s algorithm: a node asks only the members of its own set, and any two sets have a member in ' +
        'common. Each node is the arbiter for those that ask it, and is locked for one of them at a time. ' +
        'Nodes 1, 2 and 3 ask at once.',
    )
    stage.at(1, 'visit')
    stage.at(2, 'visit')
    stage.at(3, 'visit')
    stage.untilReceived('locked')
    stage.say(
      'Node 4 is locked for node 3, and node 1 for itself. Each of the three has some of the locks that ' +
        'another one needs. If all of them kept what they have and waited for the rest, they would wait forever.',
    )
    stage.untilReceived('inquire')
    stage.say(
      'Node 2 has asked node 4, and its request goes before that of node 3. So node 4 asks node 3: will you ' +
        'succeed (INQUIRE)?',
    )
    stage.untilReceived('relinquish')
    stage.say(
      'Node 3 has heard FAILED from another arbiter, so it knows that it will not succeed yet. It gives the ' +
        'lock of node 4 back (RELINQUISH), and node 4 is locked for node 2. The circle is open.',
    )
    for (const user of ['ada', 'bob', 'cyd']) stage.untilUser(user, 'gone')
    stage.say('One after the other they have been inside, in the order of their requests.')
    stage.pass(200)
  },
}
