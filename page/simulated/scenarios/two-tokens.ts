/** Two participants believe to have the token at the same time. */
import type { Scenario } from './stage.ts'

export const twoTokens: Scenario = {
  name: 'two-tokens',
  title: 'Two tokens at once, and why that is safe',
  summary: 'Participant 1 is cut off and does not know that its token is worth nothing any more.',
  setup: { protocol: 'wme-2', participants: 5, seed: 7 },
  play(stage) {
    stage.say('Five participants. Ada is inside at participant 1, and has changed the state once.')
    stage.at(1, 'stay')
    stage.untilUser('ada', 'inside')
    stage.at(1, 'operate')
    stage.untilUser('ada', 'inside')
    stage.pass(60)
    stage.say('Participant 1 is cut off from all others. Bob comes to participant 3.')
    for (const peer of [2, 3, 4, 5]) stage.between('cut', 1, peer)
    stage.at(3, 'stay')
    stage.untilUser('bob', 'inside')
    stage.say(
      'The others are a majority. They have ended the epoch, and Bob is inside. Now there are two thick lines: ' +
        'participant 1 has not heard of any of this, and still believes to have the token.',
    )
    stage.at(1, 'operate')
    stage.at(3, 'operate')
    stage.untilUser('bob', 'inside')
    stage.say(
      'Both users issue an operation. Bob’s is applied at once. Ada’s would need a majority of participants ' +
        'that are still in her epoch, and there is none: it stays pending. Two tokens, but only one of them ' +
        'can change anything. That is weak mutual exclusion.',
    )
    stage.pass(300)
    stage.at(3, 'leave')
    stage.untilUser('bob', 'gone')
    for (const peer of [2, 3, 4, 5]) stage.between('heal', 1, peer)
    stage.say('The links are whole again.')
    stage.untilUser('ada', 'gone')
    stage.say(
      'Participant 1 learns of the new epoch. Its token is gone, and Ada is told that her second operation was ' +
        'not applied. In the log there is one order of operations, as if there had been one token all along.',
    )
    stage.pass(300)
  },
}
