/** Keys for the whole page, while no field has the focus: arrows to step, space to run. */
import { useEffect } from 'preact/hooks'
import type { Player } from './player.ts'

const FIELDS = ['INPUT', 'SELECT', 'TEXTAREA', 'BUTTON', 'SUMMARY', 'A']

export function useKeys(change: (action: (player: Player) => void) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as Element | null
      const isTaken = event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented
      if (isTaken || (target !== null && FIELDS.includes(target.tagName))) return
      const action = KEYS[event.key]
      if (action === undefined) return
      event.preventDefault()
      change(action)
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [change])
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
