/** Run, pause, step, back, speed, and what acting in the middle of a run does. */
import { describe, expect, it } from 'vitest'
import { Player, SPEEDS } from '../../../page/simulated/player.ts'
import { historyTape } from '../../../page/simulated/recordings/history-tape.ts'
import { scenarioNamed } from '../../../page/simulated/scenarios/all.ts'
import { prepare } from '../../../page/simulated/scenarios/stage.ts'

const setup = { protocol: 'wme-2', participants: 3, seed: 1, ttlMs: 3_600_000 } as const

describe('a player', () => {
  it('steps and goes back, and the moments stay the same', () => {
    const player = Player.ofScenario('owner-dies', null)
    expect(player.position).toBe(1)
    const before = player.tape.moments.slice(0, 12)
    for (let count = 0; count < 11; count++) expect(player.step()).toBe(true)
    expect(player.position).toBe(12)
    player.back()
    player.back()
    expect(player.position).toBe(10)
    expect(player.tape.moments.slice(0, 12)).toEqual(before)
    player.goTo(-5)
    expect(player.position).toBe(1)
  })

  it('plays a scenario to its end and stops there; each faster speed needs less time', () => {
    const needed = SPEEDS.map((_, speed) => {
      const player = Player.ofScenario('nice-run', null)
      player.speed = speed
      player.play()
      let ms = 0
      for (; player.isPlaying && ms < 600_000; ms += 16) player.tick(16)
      expect(player.position).toBe(prepare(scenarioNamed('nice-run')!).length)
      return ms
    })
    expect(needed).toEqual([...needed].sort((one, other) => other - one))
    expect(new Set(needed).size).toBe(needed.length)
  })

  it('does not move while it is paused', () => {
    const player = Player.ofScenario('nice-run', 5)
    player.tick(10_000)
    expect(player.position).toBe(5)
  })

  it('lets the time go on between two moments, and never past the next', () => {
    const player = Player.ofScenario('nice-run', 5)
    const { moments } = player.tape
    player.play()
    for (let count = 0; count < 300 && player.isPlaying; count++) {
      player.tick(3)
      const next = moments[player.position]?.at ?? Number.POSITIVE_INFINITY
      expect(player.now).toBeGreaterThanOrEqual(moments[player.position - 1]!.at)
      expect(player.now).toBeLessThanOrEqual(next)
    }
  })

  it('says the words that belong to a moment', () => {
    const player = Player.ofScenario('nice-run', null)
    const { captions } = prepare(scenarioNamed('nice-run')!)
    expect(player.caption).toBe(captions[0])
    player.nextCaption()
    expect(player.caption).toBe(captions[1])
    expect(player.position).toBe(captions[1]!.from)
    player.previousCaption()
    expect(player.caption).toBe(captions[0])
  })

  it('makes another run of a scenario in which the reader acts, with a link to it', () => {
    const player = Player.ofScenario('nice-run', 8)
    expect(player.link?.source.kind).toBe('scenario')
    player.act({ type: 'kill', participant: 2 })
    expect(player.position).toBe(9)
    expect(player.isChanged).toBe(true)
    const { source, position } = player.link!
    if (source.kind !== 'run') throw new Error(source.kind)
    const again = Player.ofRun(source, position)
    expect(again.position).toBe(9)
    expect(again.tape.moments).toEqual(player.tape.moments)
  })

  it('stays what it is if nothing could be done', () => {
    const player = Player.ofScenario('nice-run', 8)
    player.act({ type: 'restart', participant: 2 })
    expect([player.position, player.isChanged, player.link?.source.kind]).toEqual([8, false, 'scenario'])
  })

  it('goes on with a run of its own as long as something happens', () => {
    const player = Player.ofRun({ kind: 'run', setup, actions: [] }, null)
    player.act({ type: 'commute', participant: 2 })
    player.speed = SPEEDS.length - 1
    player.play()
    for (let count = 0; count < 100; count++) player.tick(50)
    expect(player.isPlaying).toBe(true)
    expect(player.position).toBeGreaterThan(100)
  })

  it('shows a recording and does nothing to it', () => {
    const header = {
      format: 1,
      protocol: 'maekawa',
      participants: 2,
      resource: 'kv',
      resultsKept: 1,
    } as const
    const events = [
      { at: 5, type: 'try', user: 'u', participant: 1 },
      { at: 9, type: 'crit', user: 'u', participant: 1, fence: 1, epoch: 0 },
    ] as const
    const player = Player.ofRecording(historyTape({ header, events }), null, null)
    player.act({ type: 'kill', participant: 1 })
    expect([player.run, player.link, player.length]).toEqual([null, null, 3])
    expect([player.step(), player.step(), player.step()]).toEqual([true, true, false])
  })
})
