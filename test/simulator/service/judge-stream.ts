/**
 * What a participant writes to one watcher, as it is written: in one stream the fences of holders only rise,
 * a holder that is told once more only says who it is, and nobody holds the lock only after somebody did, or
 * may have before the watcher resumed. The library hides some of this from its callers.
 */
import { Violation } from '../violation.ts'

interface HolderData {
  readonly participant: number | null
  readonly fence?: number
  readonly since?: string
}

export class StreamJudge {
  readonly #name: string
  #rest = ''
  #fence = -1
  #believes: boolean
  #isDescribed = false

  /** `name`: of the participant. */
  constructor(name: string, since: number | null) {
    this.#name = name
    this.#believes = since !== null
  }

  /** Throws a violation. A snapshot comes in pieces. */
  take(text: string): void {
    const blocks = (this.#rest + text).split('\n\n')
    this.#rest = blocks.pop()!
    for (const block of blocks) {
      const [, id, data] = /^(id: \d+\n)?event: holder\ndata: (.*)$/.exec(block) ?? []
      if (data !== undefined) this.#judge(JSON.parse(data), id !== undefined, block)
    }
  }

  #judge({ participant, fence = -1, since }: HolderData, hasId: boolean, block: string): void {
    if (participant === null) {
      if (!this.#believes) this.#violate('nobody holds the lock, though nobody did', block)
      this.#believes = false
      return
    }
    const isMore = fence === this.#fence && this.#believes && !this.#isDescribed && since !== undefined
    if (fence <= this.#fence && !(isMore && !hasId)) this.#violate(`a holder after ${this.#fence}`, block)
    this.#fence = fence
    this.#believes = true
    this.#isDescribed = since !== undefined
  }

  #violate(what: string, block: string): never {
    const message = `a watcher of ${this.#name} is told of ${what}: ${block.replaceAll('\n', ' ')}`
    throw new Violation('safety', 'watch', message)
  }
}
