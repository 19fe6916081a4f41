/** All scenes, and a scene as a page of text. */
import { figures } from './figures.ts'
import { members } from './members.ts'
import type { Stage } from './stage.ts'
import { traps } from './traps.ts'

export interface Scene {
  /** The name of its file, without `.txt`. */
  readonly file: string
  readonly title: string
  /** What happens, and what would happen otherwise. */
  readonly introduction: string
  play(): Stage
}

export const scenes: readonly Scene[] = [...figures, ...traps, ...members]

const WIDTH = 110

export function transcriptOf(scene: Scene): string {
  return `${scene.title}\n\n${wrapped(scene.introduction)}\n${scene.play().text}\n`
}

function wrapped(text: string): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    if (`${lines.at(-1)} ${word}`.length > WIDTH) lines.push(word)
    else lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trim()
  }
  return lines.join('\n')
}
