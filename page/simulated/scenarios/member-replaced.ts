/** A machine is lost for good, and another takes its place. */
import type { Scenario } from './stage.ts'

export const memberReplaced: Scenario = {
  name: 'member-replaced',
  title: 'A member replaced',
  summary: 'Participant 3 is lost for good. Participant 4 takes its place, and soon it is needed.',
  setup: { protocol: 'wme-2', participants: 3, seed: 8 },
  play(stage) {
    stage.say('Ada changes the state. Then participant 3 is lost, with its machine.')
    stage.at(1, 'visit')
    stage.untilUser('ada', 'gone')
    stage.pass(60)
    stage.at(3, 'kill')
    stage.pass(30)
    stage.say(
      'Two of three go on, but nobody else may fail. An operator starts participant 4 on another machine and ' +
        'asks participant 1 for the members 1, 2 and 4.',
    )
    stage.changeMembers(1, 2, 4)
    stage.until('4 is a member', () => stage.seat(4).isMember)
    stage.say(
      'Participant 4 was brought up to date first. Then a majority of the old members has decided: the epoch ' +
        'ends, and in the next one the members are 1, 2 and 4. Participant 3 is not asked for anything any more.',
    )
    stage.pass(200)
    stage.say('Now participant 2 fails, too. Of the first three only one is left.')
    stage.at(2, 'kill')
    stage.at(4, 'visit')
    stage.untilUser('bob', 'inside')
    stage.say('But 1 and 4 are a majority of the present members: Bob is let in at participant 4.')
    stage.untilUser('bob', 'gone')
    stage.say('He has seen what Ada did, and his change is on two machines.')
    stage.pass(300)
  },
}
