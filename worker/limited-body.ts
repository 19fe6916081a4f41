/** Reads a body that may be of any length, and stops where it becomes too long. */

interface WithBody {
  readonly headers: Headers
  readonly body: ReadableStream<Uint8Array> | null
  arrayBuffer(): Promise<ArrayBuffer>
}

export async function readLimited(message: WithBody, most: number): Promise<Uint8Array | 'too-large'> {
  const { headers, body } = message
  if (Number(headers.get('content-length') ?? 0) > most) {
    await body?.cancel()
    return 'too-large'
  }
  // The platform lets no body be longer than it said. To read it as a whole takes one wait instead of two.
  if (headers.has('content-length')) {
    const whole = new Uint8Array(await message.arrayBuffer())
    return whole.byteLength > most ? 'too-large' : whole
  }
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = body?.getReader()
  for (;;) {
    const chunk = await reader?.read()
    if (chunk === undefined || chunk.done) break
    length += chunk.value.byteLength
    if (length > most) {
      await reader!.cancel()
      return 'too-large'
    }
    chunks.push(chunk.value)
  }
  return joined(chunks, length)
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  if (chunks.length === 1) return chunks[0]!
  const whole = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}
