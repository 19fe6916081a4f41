/** How much each of many readers has not read yet, and all of them together. */
export class Unread {
  total = 0
  private readonly bytes = new Map<string, number>()

  set(reader: string, bytes: number): void {
    this.total += bytes - (this.bytes.get(reader) ?? 0)
    if (bytes === 0) this.bytes.delete(reader)
    else this.bytes.set(reader, bytes)
  }

  delete(reader: string): void {
    this.set(reader, 0)
  }

  /** The reader that is furthest behind. */
  furthest(): string | undefined {
    let most = 0
    let furthest: string | undefined
    for (const [reader, bytes] of this.bytes) {
      if (bytes <= most) continue
      most = bytes
      furthest = reader
    }
    return furthest
  }
}
