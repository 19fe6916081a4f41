/** Keeps the player of the page: opens what the link says, lets it play, and writes the link anew. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ProtocolName } from '../../shared/protocols/protocol.ts'
import type { Tape } from './engine/tape.ts'
import { readLink, type Source, writeLink } from './link.ts'
import { Player } from './player.ts'

export interface Shown {
  readonly player: Player | null
  readonly problem: string | null
  /** Does something to the player and shows the result. */
  readonly change: (action: (player: Player) => void) => void
  readonly open: (link: string) => void
  readonly openTape: (tape: Tape | string) => void
}

/** A browser that was elsewhere does not show all at once what it missed. */
const LONGEST_FRAME_MS = 100

export function usePlayer(parameters: URLSearchParams): Shown {
  const [player, setPlayer] = useState<Player | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [, draw] = useState(0)
  const current = useRef<Player | null>(null)
  current.current = player
  const opened = useRef(0)

  const show = (next: Player | null, sentence: string | null) => {
    opened.current++
    setPlayer(next)
    setProblem(sentence)
  }

  const openText = (text: string) => {
    const link = readLink(new URLSearchParams(text))
    if ('problem' in link) return show(current.current ?? Player.ofScenario('nice-run', null), link.problem)
    const { source, position } = link
    if (source.kind === 'scenario') return show(Player.ofScenario(source.name, position), null)
    if (source.kind === 'run') return show(Player.ofRun(source, position), null)
    show(null, null)
    const number = opened.current
    void loadSeed(source, position).then(
      ([loaded, sentence]) => number === opened.current && show(loaded, sentence),
      (error: unknown) =>
        number === opened.current && show(null, `The seed could not be run: ${String(error)}`),
    )
  }

  // A link is opened whenever the reader comes by one, and not because something else has changed.
  useEffect(() => openText(parameters.toString()), [parameters])

  // While it plays, each frame of the browser is a tick.
  const isPlaying = player?.isPlaying ?? false
  useEffect(() => {
    if (!isPlaying) return
    let before = performance.now()
    let frame = requestAnimationFrame(function next(now) {
      current.current?.tick(Math.min(LONGEST_FRAME_MS, now - before))
      before = now
      draw(count => count + 1)
      frame = requestAnimationFrame(next)
    })
    return () => cancelAnimationFrame(frame)
  }, [isPlaying])

  // The address always leads back to what is shown. It changes without a new visit to the page.
  const link = player?.link ?? null
  const address = link === null || isPlaying ? null : writeLink(link)
  useEffect(() => {
    if (address !== null && player?.isTouched === true) history.replaceState(null, '', address)
  }, [address, player])

  return {
    player,
    problem,
    change: action => {
      if (current.current === null) return
      action(current.current)
      draw(count => count + 1)
    },
    open: href => {
      history.pushState(null, '', href)
      openText(href.slice(href.indexOf('?') + 1))
    },
    openTape: tape =>
      typeof tape === 'string'
        ? setProblem(tape)
        : show(Player.ofRecording(tape, null, tape.moments.length), null),
  }
}

type SeedSource = Extract<Source, { readonly kind: 'seed' }>

/** The simulator is loaded only by those who want it. */
async function loadSeed(source: SeedSource, position: number | null): Promise<[Player, string | null]> {
  const { seedTape } = await import('./recordings/seed-tape.ts')
  const { protocol, participants, seed } = source.setup
  const { tape, violation } = seedTape(protocol as ProtocolName, participants, seed, source.members)
  const sentence =
    violation === null ? null : `The simulator found a violation of ${violation.rule}: ${violation.message}`
  return [Player.ofRecording(tape, source, position), sentence]
}
