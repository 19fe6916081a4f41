/** Nothing goes wrong: the token goes where it is wanted, and every change reaches everybody. */
import type { Scenario } from './stage.ts'

export const niceRun: Scenario = {
  name: 'nice-run',
  title: 'A nice run',
  summary: 'Two users want the lock. The token goes from one to the other, and the state with it.',
  setup: { protocol: 'wme-2', participants: 3, seed: 3 },
  play(stage) {
    stage.say(
      'Three participants, each with a copy of the state. Participant 1 has the token: its line is thick. ' +
        'Ada comes to participant 1, where the token is, and Bob to participant 2.',
    )
    stage.at(1, 'visit')
    stage.at(2, 'visit')
    stage.untilUser('ada', 'inside')
    stage.say(
      'Ada is inside without a single message, because the token was there. Participant 2 asks for the token ' +
        'with a REQUEST.',
    )
    stage.untilUser('ada', 'issuing')
    stage.say(
      'Ada issues an operation. Participant 1 sends it to the others (INVOKE) and waits until a majority, ' +
        'itself included, has written it down.',
    )
    stage.until('ada hears', () => stage.user('ada') !== 'issuing')
    stage.say(
      'A majority has it. Participant 1 applies it and Ada hears the outcome. The others learn with the next ' +
        'message that they may apply it too.',
    )
    stage.untilUser('bob', 'inside')
    stage.say(
      'Ada has left. The token is an entry of the same log as the operations, so with the grant Bob gets ' +
        'everything that Ada did. His fence is higher than hers.',
    )
    stage.untilUser('bob', 'gone')
    stage.say(
      'Bob has changed the state, too, and left. The token stays with participant 2 until somebody asks.',
    )
    stage.pass(400)
  },
}
