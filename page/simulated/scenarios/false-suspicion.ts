/** A participant that is well is taken for dead, just when its user changes the state. */
import type { Scenario } from './stage.ts'

export const falseSuspicion: Scenario = {
  name: 'false-suspicion',
  title: 'A false suspicion with a pending operation',
  summary: 'Participant 1 is well, but cannot be reached for a while, and Ada’s operation is under way.',
  setup: { protocol: 'wme-2', participants: 3, seed: 2 },
  play(stage) {
    stage.say('Ada is inside at participant 1. Bob waits at participant 2.')
    stage.at(1, 'stay')
    stage.untilUser('ada', 'inside')
    stage.at(2, 'visit')
    stage.pass(70)
    stage.say(
      'The links of participant 1 fail for a while, just when Ada issues an operation. Participant 1 writes it ' +
        'into its own log and sends it to the others, in vain.',
    )
    stage.between('cut', 1, 2)
    stage.between('cut', 1, 3)
    stage.at(1, 'operate')
    stage.until('2 suspects 1', () => stage.seat(2).suspects.includes(1))
    stage.say(
      'Participant 2 hears nothing from participant 1 and takes it for dead. It is wrong: 1 is well, and Ada ' +
        'waits for the outcome. Nobody could know; no failure detector can tell a dead machine from a cut link.',
    )
    stage.untilEpoch(1, 2, 3)
    stage.say(
      'Participants 2 and 3 close the epoch and agree on how the log ends. Ada’s operation has not reached ' +
        'them. It never was on a majority, so it is not in what they agree on.',
    )
    stage.untilUser('bob', 'gone')
    stage.say('Bob has been inside and has changed the state. The links are whole again.')
    stage.between('heal', 1, 2)
    stage.between('heal', 1, 3)
    stage.untilUser('ada', 'gone')
    stage.say(
      'Participant 1 hears of the new epoch and takes the operation out of its log. Ada is told two things: ' +
        'that she was ejected, and that her operation was not applied. Both are final. She may issue it again ' +
        'under the next grant without fear that it counts twice.',
    )
    stage.pass(400)
  },
}
