/** The length of a text in UTF-8. Most text consists of letters of one byte each. */
export function bytesOf(text: string): number {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > 127) return new TextEncoder().encode(text).length
  }
  return text.length
}
