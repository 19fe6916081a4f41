/** Seeds of the simulator and recorded histories, as the page shows them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pictureAt } from '../../../page/simulated/engine/picture.ts'
import { sectionsOf } from '../../../page/simulated/engine/sections.ts'
import { verdictAt } from '../../../page/simulated/engine/verdict.ts'
import { readHistory } from '../../../page/simulated/recordings/history-tape.ts'
import { seedTape } from '../../../page/simulated/recordings/seed-tape.ts'
import { PROTOCOL_NAMES } from '../../../shared/protocols/all.ts'
import { FAULTS } from '../../simulator/faults.ts'
import { runSeed } from '../../simulator/run.ts'

describe.each(PROTOCOL_NAMES)('a seed of %s', protocol => {
  it('is the very simulation that the command runs', () => {
    const options = {
      protocol,
      participants: 3,
      faults: FAULTS,
      durationMs: null,
      users: null,
      members: false,
    }
    const simulated = runSeed(options, 4)
    const { tape, steps, violation } = seedTape(protocol, 3, 4)
    expect(violation).toBeNull()
    expect(steps).toBe(simulated.steps)
    expect(tape.history).toEqual(simulated.history)
  })

  it('is told in order, and knows at each moment how much was recorded', () => {
    const { tape } = seedTape(protocol, 3, 5)
    const { moments, messages, history } = tape
    expect(moments.at(-1)!.recorded).toBe(history.events.length)
    for (let index = 1; index < moments.length; index++) {
      expect(moments[index]!.at).toBeGreaterThanOrEqual(moments[index - 1]!.at)
      const latest = history.events[moments[index]!.recorded - 1]
      if (latest !== undefined) expect(latest.at).toBeLessThanOrEqual(moments[index]!.at)
    }
    const received = messages.filter(({ receivedIn }) => receivedIn !== null)
    expect(received.length).toBeGreaterThan(messages.length / 3)
    for (const { sentIn, receivedIn } of received) expect(receivedIn).toBeGreaterThan(sentIn)
    expect(sectionsOf(tape, moments.length).length).toBeGreaterThan(3)
    expect(verdictAt(tape, moments.length)!.verdict).toBe('valid')
  })
})

it('a seed with members that change is told, too', () => {
  const { tape, violation } = seedTape('wme-2', 3, 2, true)
  expect(violation).toBeNull()
  expect(pictureAt(tape, tape.moments.length).participants.length).toBeGreaterThan(3)
})

describe('a recorded history', () => {
  const folder = join(import.meta.dirname, '../../history/fixtures')
  const files = readdirSync(folder).filter(name => /^(ok|bad)-/.test(name))

  it.each(files)('%s is shown and judged', name => {
    const tape = readHistory(readFileSync(join(folder, name), 'utf8'))
    if (typeof tape === 'string') throw new Error(tape)
    expect(tape.moments).toHaveLength(tape.history.events.length + 1)
    expect(tape.moments[0]!.at).toBe(0)
    const verdict = verdictAt(tape, tape.moments.length)!
    if (name.startsWith('ok-')) expect(verdict.safety).toBe('valid')
    else expect(verdict.verdict).toBe('invalid')
    expect(pictureAt(tape, tape.moments.length).participants).toHaveLength(tape.history.header.participants)
  })

  it.each(['broken-truncated.jsonl'])('%s is refused in words', name => {
    expect(readHistory(readFileSync(join(folder, name), 'utf8'))).toMatch(/^This is no history: line \d+: /)
  })

  it('that is something else is refused in words', () => {
    expect(readHistory('<html>')).toMatch(/^This is no history: line 1: /)
    expect(readHistory('')).toMatch(/^This is no history/)
  })

  it('shows the state that its operations made', () => {
    const tape = readHistory(readFileSync(join(folder, 'ok-two-users.jsonl'), 'utf8'))
    if (typeof tape === 'string') throw new Error(tape)
    expect(pictureAt(tape, tape.moments.length).state.length).toBeGreaterThan(0)
  })
})
