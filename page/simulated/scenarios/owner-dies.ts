/** The participant with the token dies while its user is inside. */
import type { Scenario } from './stage.ts'

export const ownerDies: Scenario = {
  name: 'owner-dies',
  title: 'The owner dies in its critical section',
  summary: 'Participant 1 is killed with Ada inside. The others go on in a new epoch, and lose nothing.',
  setup: { protocol: 'wme-2', participants: 3, seed: 5 },
  play(stage) {
    stage.say('Ada is let in at participant 1, to stay. Bob comes to participant 2 and has to wait.')
    stage.at(1, 'stay')
    stage.untilUser('ada', 'inside')
    stage.at(1, 'operate')
    stage.untilUser('ada', 'inside')
    stage.at(2, 'visit')
    stage.pass(90)
    stage.say('Ada has changed the state once. Now participant 1 dies, with Ada inside.')
    stage.at(1, 'kill')
    stage.until('2 suspects 1', () => stage.seat(2).suspects.includes(1))
    stage.say(
      'Participant 2 needs the token, so it watches its owner. Its pings stay unanswered for too long: it ' +
        'suspects participant 1 and asks whether the others hear nothing either.',
    )
    stage.untilEpoch(1, 2, 3)
    stage.say(
      'They close the epoch together: both send what they have of the log (NEW EPOCH), and consensus decides ' +
        'where it ends and who is the next owner. The colour of their lines changes. Ada’s operation was on a ' +
        'majority, so it is part of what they decide.',
    )
    stage.untilUser('bob', 'inside')
    stage.say('Bob is inside in epoch 1, and sees what Ada did.')
    stage.untilUser('bob', 'gone')
    stage.say('Participant 1 comes back with what it had stored, and is behind by an epoch.')
    stage.at(1, 'restart')
    stage.untilUser('ada', 'gone')
    stage.say(
      'It is told what it missed, and tells Ada: she was ejected. If she was in the middle of something, she ' +
        'learns whether that counts.',
    )
    stage.pass(500)
  },
}
