/** The traps that are best understood by watching what happens. The rules are in docs/specification.md. */
import { wme1, wme2 } from '../../shared/protocols/wme/wme.ts'
import type { Scene } from './scenes.ts'
import { among, both, ofType, Stage, to } from './stage.ts'

export const traps: readonly Scene[] = [
  {
    file: 'trap-a1-second-token',
    title: 'A1, wme-2: an old owner has no second token',
    introduction:
      'Participant 1 has the token and nobody inside. The others replace it without its knowledge. Printed, ' +
      'Figure 2 leaves it in TOKEN_HELD, so its next user would enter at once, in the new epoch, with a ' +
      'second token. Here the log says who the owner is, so that user has to ask.',
    play() {
      const stage = new Stage(wme2)
      stage.unrecorded(() => {
        stage.try(2, 'bob')
        stage.replaceOwner(1, 2, 3)
        stage.lose(both(to(1), ofType('ping', 'new-epoch', 'prepare', 'accept')))
        stage.deliver(to(3))
      })
      stage.say(
        'Participants 2 and 3 have decided that 2 is the owner of epoch 1. Participant 1 hears of it.',
      )
      stage.deliver(both(ofType('decision'), to(1)))
      stage.say('ada asks at participant 1, which held the token a moment ago: it sends a request.')
      stage.try(1, 'ada')
      stage.deliver()
      return stage
    },
  },
  {
    file: 'trap-a4-outcome-before-ejection',
    title: 'A4, wme-1: the outcome comes before the ejection',
    introduction:
      'ada has an operation pending when her participant is cut off. Participant 3 holds the entry, so the ' +
      'decision contains it, and all apply it. ada loses the lock; but she hears first that her operation ' +
      'succeeded. Printed, she would hear that it failed.',
    play() {
      const stage = new Stage(wme1)
      stage.unrecorded(() => {
        stage.try(1, 'ada')
      })
      stage.say('The entries reach participant 3, and its acknowledgements are lost.')
      stage.issue('ada', 'op-1')
      stage.deliver(both(ofType('invoke'), to(3)))
      stage.lose(() => true)
      stage.say(
        'Participant 2 finds the owner silent, and so does 3. They end epoch 0 (Figure 2, not shown).',
      )
      stage.unrecorded(() => {
        stage.try(2, 'bob')
        stage.replaceOwner(1, 2, 3)
      })
      stage.say('The decision arrives at participant 1: applied, outcome, ejected, in this order.')
      stage.deliver(both(ofType('decision'), to(1)))
      return stage
    },
  },
  {
    file: 'trap-a8-grant-for-nobody',
    title: 'A8, wme-2: a grant for a user that has given up',
    introduction:
      'bob asks at participant 2 and gives up while the grant is on its way. Printed, participant 2 would ' +
      'have the token, with nobody inside who could ever pass it on, and everybody else would starve. Here ' +
      'an idle stub that gets the token passes it on to the next request.',
    play() {
      const stage = new Stage(wme2)
      stage.unrecorded(() => {
        stage.try(1, 'ada')
        stage.try(2, 'bob')
        stage.deliver(ofType('request'))
        stage.try(3, 'cyd')
        stage.deliver(ofType('request'))
      })
      stage.say('ada is inside at 1; bob waits at 2 and cyd at 3. ada leaves, and the token goes to bob.')
      stage.exit('ada')
      stage.say('Meanwhile bob gives up.')
      stage.withdraw(2, 'bob')
      stage.say('The grant reaches participant 2, where nobody wants it: it goes on to participant 3.')
      stage.deliver(both(ofType('invoke'), to(2)))
      stage.deliver(both(ofType('invoke'), to(3)))
      return stage
    },
  },
  {
    file: 'trap-b10-deaf-participant',
    title: 'B10, wme-2: a participant that cannot hear stops nobody',
    introduction:
      'Participant 3 can send, but receives nothing. It suspects the owner, which is well. Printed, it would ' +
      'seal the epoch, its NEWEP would make the others seal too, and so again in every epoch. Here it has to ' +
      'ask the others first. They hear the owner, and nobody agrees.',
    play() {
      const stage = new Stage(wme2)
      stage.unrecorded(() => {
        stage.try(1, 'ada')
        stage.issue('ada', 'op-1')
        stage.deliver()
      })
      stage.say('ada is inside at participant 1. cyd asks at participant 3, which has just become deaf.')
      stage.loseFromNowOn(to(3))
      stage.try(3, 'cyd')
      stage.deliver()
      stage.say('Participant 3 hears nothing of the owner, and asks the others.')
      stage.fire(3, 'suspect')
      stage.deliver()
      stage.say('Epoch 0 goes on, and so does ada.')
      stage.issue('ada', 'op-2')
      stage.deliver()
      return stage
    },
  },
  {
    file: 'trap-d2-lost-storage',
    title: 'D2, wme-2: a participant that has lost its storage does not vote',
    introduction:
      'Participants 1 and 3 hold a committed operation. Then participant 3 loses its storage and participant ' +
      '1 crashes. If 3 voted as if it had never held anything, 2 and 3 would decide a log without the ' +
      'operation. Instead 3 asks to be taken back, and waits until those that know have decided so.',
    play() {
      const stage = new Stage(wme2)
      stage.unrecorded(() => {
        stage.try(1, 'ada')
        stage.issue('ada', 'op-1')
        stage.deliver(among(1, 3))
        stage.lose(() => true)
        stage.crash(1)
        stage.wipe(3)
      })
      stage.say('op-1 is on 1 and 3, and ada has its outcome. 3 starts with empty storage, while 1 is down.')
      stage.start(3)
      stage.deliver(to(2))
      stage.say(
        'Participant 2 would end the epoch for it, and cannot: 3 has no vote, so there is no majority.',
      )
      stage.fire(2, 'suspect')
      stage.deliver(among(2, 3))
      stage.lose(() => true)
      stage.say('Participant 1 is back. The owner ends the epoch itself, with participant 2.')
      stage.start(1)
      stage.fire(3, 'repeat')
      stage.deliver(to(1))
      stage.deliver(among(1, 2))
      stage.say('Participant 3 hears of it, and gets everything from one of them. From epoch 1 on it votes.')
      stage.deliver()
      stage.fire(3, 'repeat')
      stage.deliver()
      return stage
    },
  },
  {
    file: 'majority-first',
    title: 'Majority first, wme-2: an operation goes to the quickest majority',
    introduction:
      'Participant 2 answers the owner in 1 ms, participant 3 in 80 ms. So an operation goes to participant 2 ' +
      'alone, and is committed. Participant 3 gets it a little later, together with the next one (Q1 to Q7).',
    play() {
      const stage = new Stage(wme2, 3, true)
      stage.unrecorded(() => {
        stage.try(1, 'ada')
        stage.issue('ada', 'op-1')
        stage.deliver(ofType('invoke'))
        stage.pass(1)
        stage.deliver(sent => sent.from === 2)
        stage.pass(79)
        stage.deliver()
        stage.run(1_000)
      })
      stage.say('The owner knows both round trips. ada issues an operation: it goes to participant 2 alone.')
      stage.issue('ada', 'op-2')
      stage.deliver()
      stage.say('The next one too. Participant 3 lags by two operations.')
      stage.issue('ada', 'op-3')
      stage.deliver()
      stage.say('After 20 ms it gets both in one message, with the news that both are committed.')
      stage.fire(1, 'spread')
      stage.deliver()
      return stage
    },
  },
  {
    file: 'false-suspicion-pending-operation',
    title: 'A3 and B9, wme-2: a false suspicion while an operation is pending',
    introduction:
      'ada has issued an operation, and its entry is lost. The owner is slow to answer, and the others ' +
      'suspect it wrongly and seal. But its NEWEP arrives in time, with the entry, so the decision keeps ' +
      'both the owner and the operation. ada stays inside and has one outcome.',
    play() {
      const stage = new Stage(wme2)
      stage.unrecorded(() => {
        stage.try(1, 'ada')
        stage.issue('ada', 'op-1')
        stage.deliver()
        stage.try(2, 'bob')
        stage.deliver()
      })
      stage.say('ada is inside at participant 1, bob waits at 2. ada issues op-2, and the network loses it.')
      stage.issue('ada', 'op-2')
      stage.lose(() => true)
      stage.say('Participants 2 and 3 have heard nothing from the owner for too long.')
      stage.suspect(1, 2, 3)
      stage.say('This time NEWEP reaches participant 1. It seals too, and sends the end of its log.')
      stage.deliver(ofType('new-epoch'))
      stage.say('The proposer has the NEWEP of the owner: the longest log wins, and the incumbent stays.')
      stage.deliver()
      return stage
    },
  },
]
