/** How ZooKeeper writes its messages: numbers with the highest byte first, and strings after their length. */
export class Writer {
  private readonly parts: Buffer[] = []

  int(value: number): this {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32BE(value)
    return this.raw(bytes)
  }

  long(value: bigint): this {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64BE(value)
    return this.raw(bytes)
  }

  bool(value: boolean): this {
    return this.raw(Buffer.from([value ? 1 : 0]))
  }

  bytes(value: Uint8Array): this {
    return this.int(value.length).raw(Buffer.from(value))
  }

  text(value: string): this {
    return this.bytes(Buffer.from(value))
  }

  append(other: Writer): this {
    return this.raw(Buffer.concat(other.parts))
  }

  private raw(bytes: Buffer): this {
    this.parts.push(bytes)
    return this
  }

  /** With its length before it, as it is sent. */
  frame(): Buffer {
    const body = Buffer.concat(this.parts)
    const length = Buffer.alloc(4)
    length.writeInt32BE(body.length)
    return Buffer.concat([length, body])
  }
}

export class Reader {
  private readonly buffer: Buffer
  private at = 0

  constructor(buffer: Buffer) {
    this.buffer = buffer
  }

  int(): number {
    this.at += 4
    return this.buffer.readInt32BE(this.at - 4)
  }

  long(): bigint {
    this.at += 8
    return this.buffer.readBigInt64BE(this.at - 8)
  }

  bool(): boolean {
    this.at += 1
    return this.buffer[this.at - 1] === 1
  }

  /** A length of -1 stands for nothing at all. */
  bytes(): Buffer {
    const length = Math.max(0, this.int())
    this.at += length
    return this.buffer.subarray(this.at - length, this.at)
  }

  text(): string {
    return this.bytes().toString()
  }

  texts(): string[] {
    return Array.from({ length: Math.max(0, this.int()) }, () => this.text())
  }
}

/** Takes bytes as they arrive and gives whole messages, without their length. */
export class Frames {
  private rest: Buffer = Buffer.alloc(0)

  add(bytes: Buffer): Buffer[] {
    this.rest = Buffer.concat([this.rest, bytes])
    const frames: Buffer[] = []
    while (this.rest.length >= 4 && this.rest.length >= 4 + this.rest.readInt32BE(0)) {
      const end = 4 + this.rest.readInt32BE(0)
      frames.push(this.rest.subarray(4, end))
      this.rest = this.rest.subarray(end)
    }
    return frames
  }
}
