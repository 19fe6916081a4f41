/** The holder stands still until its time is over, and then goes on: once with Redlock, once with Baton. */
import type { Scenario, Stage } from './stage.ts'

const TTL_MS = 300

function holdAndStandStill(stage: Stage): void {
  stage.at(1, 'stay')
  stage.untilUser('ada', 'inside')
  stage.pass(20)
  stage.at(1, 'pause')
  stage.pass(60)
  stage.at(2, 'stay')
  stage.untilUser('bob', 'inside')
}

export const pausedHolderOfRedlock: Scenario = {
  name: 'paused-redlock',
  title: 'The paused holder breaks Redlock',
  summary: 'Ada stands still until her lock has expired. Bob gets it, and then Ada goes on: both are inside.',
  setup: { protocol: 'redlock', participants: 3, seed: 4, ttlMs: TTL_MS },
  play(stage) {
    stage.say(
      'Redlock: each of three servers keeps a lock that expires, here after 300 ms. Ada has a majority of them, ' +
        'looks at her clock, and is satisfied: there is time left. Right after that her machine stands still, ' +
        'for a garbage collection or a page fault.',
    )
    holdAndStandStill(stage)
    stage.say('Ada’s locks have expired on 2 and 3. Bob gets them and is inside.')
    stage.pass(60)
    stage.at(1, 'resume')
    stage.say(
      'Ada goes on where she stopped. She has looked at the clock already, so she writes to the database, ' +
        'while Bob is inside. Nothing stops her: the database knows of no lock.',
    )
    stage.pass(30)
    stage.at(1, 'leave')
    stage.untilUser('ada', 'gone')
    stage.at(2, 'leave')
    stage.untilUser('bob', 'gone')
    stage.say(
      'The checker says it: two users were inside together. (Redlock has no fences. The numbers at the bars ' +
        'are the times at which the locks were taken.) The next scenario is the same story with Baton.',
    )
    stage.pass(200)
  },
}

export const pausedHolderOfBaton: Scenario = {
  name: 'paused-baton',
  title: 'The paused holder and Baton',
  summary: 'The same story: Ada stands still, Bob gets the lock, Ada goes on. Her write never happens.',
  setup: { protocol: 'wme-2', participants: 3, seed: 4, ttlMs: TTL_MS },
  play(stage) {
    stage.say('Ada is inside, this time under Baton, and her machine stands still.')
    holdAndStandStill(stage)
    stage.at(2, 'operate')
    stage.untilUser('bob', 'inside')
    stage.say(
      'Participant 1 answers nobody. The others end its epoch, and Bob is inside in the next one. He has ' +
        'changed the state.',
    )
    stage.at(1, 'resume')
    stage.at(1, 'operate')
    stage.untilUser('ada', 'gone')
    stage.say(
      'Ada goes on where she stopped and writes. But the state that she writes to is the one that the lock ' +
        'guards: an operation needs a majority in the epoch of its grant, and that epoch is over. She is told ' +
        'that she was ejected and that her operation was not applied.',
    )
    stage.at(2, 'leave')
    stage.untilUser('bob', 'gone')
    stage.say(
      'Both believed that they were inside, and yet the checker is content: whatever Ada did after Bob came ' +
        'had no effect.',
    )
    stage.pass(400)
  },
}
