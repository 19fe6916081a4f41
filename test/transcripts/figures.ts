/** The figures of the paper, each as a short run. */
import { wme1, wme2 } from '../../shared/protocols/wme/wme.ts'
import type { Scene } from './scenes.ts'
import { both, ofType, Stage, to } from './stage.ts'

export const figures: readonly Scene[] = [
  {
    file: 'figure-1-normal-phase',
    title: 'Figure 1, wme-1: the normal phase',
    introduction:
      'Participant 1 has the token. Its own user enters without any message. A user of participant 2 gets ' +
      'the token after two communication steps, a request and a grant. Its operation is acknowledged to ' +
      'all, so everybody applies it after two more.',
    play() {
      const stage = new Stage(wme1)
      stage.say('ada enters at the owner. Nobody else is needed, and nothing is sent.')
      stage.try(1, 'ada')
      stage.say('ada leaves. The token stays where it is, because nobody waits.')
      stage.exit('ada')
      stage.say('bob asks at participant 2, which asks all for the token.')
      stage.try(2, 'bob')
      stage.deliver(ofType('request'))
      stage.say('The owner has passed the token on. The entry of ada comes along with the grant.')
      stage.deliver(ofType('invoke'))
      stage.deliver(ofType('invoke-ack'))
      stage.say('bob issues an operation. Participant 2 appends it and sends it to all.')
      stage.issue('bob', 'op-1')
      stage.deliver(ofType('invoke'))
      stage.say('Each counts the acknowledgements for itself, and applies once a majority holds the entry.')
      stage.deliver()
      return stage
    },
  },
  {
    file: 'figure-2-termination',
    title: 'Figure 2, wme-2: the end of an epoch',
    introduction:
      'Participant 1 has the token and crashes. Participant 2 has a user that waits. It finds the owner ' +
      'silent, participant 3 agrees, they seal epoch 0, and Paxos decides the log and the next owner. Then ' +
      'epoch 1 begins. Participant 1 comes back and learns of it.',
    play() {
      const stage = new Stage(wme2)
      stage.unrecorded(() => {
        stage.try(1, 'ada')
        stage.issue('ada', 'op-1')
        stage.deliver()
        stage.fire(1, 'flush')
        stage.deliver()
      })
      stage.say('ada is inside at participant 1, and op-1 is committed. Now participant 1 crashes.')
      stage.crash(1)
      stage.try(2, 'bob')
      stage.deliver(to(3))
      stage.lose(to(1))
      stage.say('The time of the owner is over. Before anybody seals, a majority must find it silent (B10).')
      stage.suspect(1, 2, 3)
      stage.say('Both seal, and say so with NEWEP. From here on epoch 0 takes no entry and no ACK (I4).')
      stage.deliver(both(ofType('new-epoch'), to(2, 3)))
      stage.lose(to(1))
      stage.say('The first that is there proposes what the longest log says: one ballot of Paxos.')
      stage.deliver(both(ofType('prepare', 'promise', 'accept', 'accepted'), to(2, 3)))
      stage.say('The decision is a transaction: epoch 1 begins, and bob is let in with a grant of its own.')
      stage.deliver(to(2, 3))
      stage.lose(to(1))
      stage.say(
        'Participant 1 comes back with its storage. It still believes that ada is inside, until it speaks.',
      )
      stage.start(1)
      stage.fire(1, 'repeat')
      stage.deliver()
      return stage
    },
  },
  {
    file: 'figure-3-states',
    title: 'Figure 3, wme-2: the states of one stub',
    introduction:
      'The stub of participant 2, of five, goes through all its states: idle, requesting, entering (its user ' +
      'wants to be let in only once a majority holds the grant), in the critical section without and with ' +
      'an operation, and idle with the token, which the paper calls TOKEN_HELD. What the other participants ' +
      'do meanwhile is left out.',
    play() {
      const stage = new Stage(wme2, 5)
      stage.say('bob asks, and wants the grant confirmed: idle, requesting, entering.')
      stage.try(2, 'bob', true)
      stage.deliver(both(ofType('request'), to(1)))
      stage.deliver(both(ofType('invoke'), to(2)))
      stage.say('With the acknowledgement of participant 3 a majority holds the grant: cs-idle.')
      stage.deliver(both(ofType('invoke'), to(3)))
      stage.deliver(both(ofType('invoke-ack'), to(2)))
      stage.say('An operation: from cs-idle to cs-issuing, and back with its outcome.')
      stage.issue('bob', 'op-1')
      stage.deliver(both(ofType('invoke'), to(1, 3)))
      stage.deliver(both(ofType('invoke-ack'), to(2)))
      stage.say('bob leaves. The stub is idle and has the token: it is shown as token-held.')
      stage.exit('bob')
      return stage
    },
  },
  {
    file: 'figure-4-acknowledgement',
    title: 'Figure 4, wme-2: the acknowledgement goes to the owner alone',
    introduction:
      'Two operations of one user. Each is acknowledged to the owner, which alone counts. The others learn ' +
      'that an operation is committed from the next entry, or from a DOINVOKE if nothing follows in time.',
    play() {
      const stage = new Stage(wme2)
      stage.unrecorded(() => {
        stage.try(1, 'ada')
      })
      stage.say('ada is inside at participant 1. Her grant rides on the first operation.')
      stage.issue('ada', 'op-1')
      stage.deliver(ofType('invoke'))
      stage.deliver(ofType('invoke-ack'))
      stage.say('The next operation tells the others that the first one is committed (A5).')
      stage.issue('ada', 'op-2')
      stage.deliver(ofType('invoke'))
      stage.deliver(ofType('invoke-ack'))
      stage.say('Nothing follows, so the news leaves by itself: DOINVOKE.')
      stage.fire(1, 'flush')
      stage.deliver()
      return stage
    },
  },
]
