/** Records and steps as lines of text, so that they can be copied without being parsed. */

/** A row holds at most 2 MB, and a character takes at most three bytes in UTF-8. */
export const MAX_ROW_LENGTH = 500_000

/** The text of a value; `null`: the record is deleted. */
export type Text = string | null

/** JSON has neither tabs nor line breaks outside its strings, and escapes them inside. */
const AFTER_KEY = '\t'
const NEXT = '\n'

export const lineOf = (key: string, text: Text): string => JSON.stringify(key) + AFTER_KEY + (text ?? '')

/** With the line break after it. */
export const lineLength = (key: string, text: Text): number =>
  JSON.stringify(key).length + AFTER_KEY.length + (text?.length ?? 0) + NEXT.length

export function* recordsIn(body: string): Iterable<readonly [key: string, text: Text]> {
  for (const line of linesOf(body)) {
    const at = line.indexOf(AFTER_KEY)
    yield [JSON.parse(line.slice(0, at)) as string, line.slice(at + 1) || null]
  }
}

export const linesOf = (body: string): string[] => (body === '' ? [] : body.split(NEXT))

export const joinLines = (lines: readonly string[]): string => lines.join(NEXT)

/** As many lines together as a row holds, in order. A long one has a row of its own. */
export function* pack(lines: Iterable<string>): Generator<string[]> {
  let part: string[] = []
  let length = 0
  for (const line of lines) {
    if (part.length > 0 && length + line.length > MAX_ROW_LENGTH) {
      yield part
      part = []
      length = 0
    }
    part.push(line)
    length += line.length + NEXT.length
  }
  if (part.length > 0) yield part
}
