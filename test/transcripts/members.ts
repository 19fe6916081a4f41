/** How members come and go. The rules are in docs/specification.md. */
import { wme2 } from '../../shared/protocols/wme/wme.ts'
import type { Scene } from './scenes.ts'
import { ofType, Stage, to } from './stage.ts'

const PRIMING = ofType('invite', 'join', 'catch-up')
const DECIDING = ofType('change', 'new-epoch', 'prepare', 'promise', 'accept', 'accepted', 'decision')

export const members: readonly Scene[] = [
  {
    file: 'members-one-replaced',
    title: 'M1 to M9, wme-2: one of three members is replaced while the lock is held',
    introduction:
      'ada is inside at participant 1. An operator asks participant 2 to replace participant 3 by a new ' +
      'machine, number 4. The newcomer gets everything first; then the epoch ends, a majority of the old ' +
      'members decides, and the new ones are asked whether they are in. ada keeps her grant.',
    play() {
      const stage = new Stage(wme2)
      stage.unrecorded(() => {
        stage.try(1, 'ada')
        stage.issue('ada', 'op-1')
        stage.deliver()
        stage.run(50)
        stage.add()
        stage.deliver()
      })
      stage.say('Participant 4 has started, and was told that it is no member. The operator names it.')
      stage.change(2, 'replace-3', { 1: '', 2: '', 4: '' })
      stage.say('It is invited, and brought up to date: it holds what is committed, and has no vote.')
      stage.deliver(PRIMING)
      stage.say('The owner is asked to end the epoch. It stays, so it does, with its user inside.')
      stage.deliver(DECIDING)
      stage.say('Everybody that knows of the decision asks the new members whether they are in.')
      stage.deliver(to(4))
      stage.deliver()
      return stage
    },
  },
]
