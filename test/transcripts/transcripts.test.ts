/** The golden transcripts are what the protocol does. `npm run transcripts -- --write` rewrites them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { wme2 } from '../../shared/protocols/wme/wme.ts'
import { FOLDER } from './folder.ts'
import { type Scene, scenes, transcriptOf } from './scenes.ts'
import { Stage } from './stage.ts'

const WIDTH = 110

describe('the golden transcripts', () => {
  it.each(scenes)('$file is what happens', scene => {
    expect(transcriptOf(scene)).toBe(readFileSync(join(FOLDER, `${scene.file}.txt`), 'utf8'))
  })

  it('have a scene each, and no two have the same', () => {
    const files = scenes.map(scene => `${scene.file}.txt`)
    expect(readdirSync(FOLDER).sort()).toEqual([...files].sort())
  })

  it.each(scenes)('$file fits the page', scene => {
    const wide = transcriptOf(scene)
      .split('\n')
      .filter(line => line.length > WIDTH)
    expect(wide).toEqual([])
  })
})

describe('a transcript', () => {
  const play = (act: (stage: Stage) => void): string => {
    const scene: Scene = {
      file: 'a-scene',
      title: 'A scene',
      introduction: 'Something happens.',
      play() {
        const stage = new Stage(wme2)
        act(stage)
        return stage
      },
    }
    return transcriptOf(scene)
  }

  it('begins with its introduction, and shows the input and each effect of a step', () => {
    const text = play(stage => stage.try(1, 'ada'))
    expect(text.split('\n').map(line => line.trim().split(/ {2,}/)[0])).toEqual([
      'A scene',
      '',
      'Something happens.',
      '0 ms p1 ada: try',
      'save',
      'emit',
      'timers',
      'now',
      '',
    ])
  })

  it('shows what is lost, and leaves out what is not recorded', () => {
    const text = play(stage => {
      stage.unrecorded(() => stage.try(2, 'bob'))
      stage.lose(sent => sent.to === 1)
    })
    expect(text).toContain('lost     p2 to p1: request: number 1 of p2 [epoch 0]')
    expect(text).not.toContain('try')
  })

  it('differs if anything that is said, saved or sent differs', () => {
    const texts = [
      play(stage => stage.try(1, 'ada')),
      play(stage => stage.try(1, 'bob')),
      play(stage => stage.try(2, 'ada')),
    ]
    expect(new Set(texts).size).toBe(texts.length)
  })
})
