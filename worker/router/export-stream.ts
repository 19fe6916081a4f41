/**
 * An export as one JSON document that is written page by page, as fast as the client reads it. If a page
 * cannot be had, the document breaks off before its end, and the client has no export.
 */
import type { ExportPage } from '../participant/calls/export.ts'

export interface ExportSource {
  readonly first: ExportPage
  page(next: number): Promise<ExportPage>
  /** Nobody reads it any more: it was read to its end, or given up. */
  end(): Promise<void>
}

/** `head` has the members of the document that are no lists. */
export function exportStream(head: object, source: ExportSource): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let page: ExportPage | null = source.first
  let text = `${JSON.stringify(head).slice(0, -1)},"results":[`
  let list: 'results' | 'cells' = 'results'
  let isFirst = true
  const add = (item: unknown) => {
    text += (isFirst ? '' : ',') + JSON.stringify(item)
    isFirst = false
  }
  const beginCells = () => {
    text += '],"cells":['
    list = 'cells'
    isFirst = true
  }
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { results, cells, next } = page!
      for (const result of results) add(result)
      if (list === 'results' && (cells.length > 0 || next === null)) beginCells()
      for (const cell of cells) add(cell)
      if (next === null) text += ']}'
      controller.enqueue(encoder.encode(text))
      text = ''
      if (next === null) {
        controller.close()
        return source.end()
      }
      page = null
      page = await source.page(next)
    },
    async cancel() {
      await source.end()
    },
  })
}
