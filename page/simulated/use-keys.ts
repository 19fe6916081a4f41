/** Keys for the whole page: arrows to step, space to run. A field that has the focus keeps its own keys. */
import { useEffect } from 'preact/hooks'
import type { Player } from './player.ts'

/** They use all of their keys. */
const FIELDS = ['INPUT', 'SELECT', 'TEXTAREA']
/** They use only the space bar: after a click on a button the arrows still step. */
const BUTTONS = ['BUTTON', 'SUMMARY', 'A']

export function useKeys(change: (action: (player: Player) => void) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTaken = event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented
      const action = KEYS[event.key]
      if (isTaken || action === undefined || isKeyOf(event.target as Element | null, event.key)) return
      event.preventDefault()
      change(action)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [change])
}

function isKeyOf(target: Element | null, key: string): boolean {
  if (target === null) return false
  return FIELDS.includes(target.tagName) || (key === ' ' && BUTTONS.includes(target.tagName))
}

const KEYS: { readonly [key: string]: (player: Player) => void } = {
  ArrowRight: player => {
    player.pause()
    player.step()
  },
  ArrowLeft: player => {
    player.pause()
    player.back()
  },
  ' ': player => (player.isPlaying ? player.pause() : player.play()),
}
