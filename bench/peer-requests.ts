/** How many requests the participants of a lock have sent each other. Each is asked by a signed request. */
import { fetchSigned } from '../worker/signature.ts'

/** What callers call the process: its address is not known before it runs. */
export const PROCESS = 'http://bench'

export class PeerRequestCounter {
  private readonly url: string
  private readonly secret: string
  private readonly lock: string
  private readonly participants: number

  constructor(url: string, secret: string, lock: string, participants: number) {
    this.url = url
    this.secret = secret
    this.lock = lock
    this.participants = participants
  }

  async read(): Promise<number> {
    const ids = Array.from({ length: this.participants }, (_, index) => index + 1)
    const counts = await Promise.all(ids.map(id => this.readOne(id)))
    return counts.reduce((sum, count) => sum + count, 0)
  }

  private async readOne(id: number): Promise<number> {
    const request = new Request(`${this.url}/participant/call`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-baton-lock': this.lock,
        'x-baton-participant': String(id),
      },
      body: JSON.stringify({ call: { type: 'status' } }),
    })
    const response = await fetchSigned(request, { to: PROCESS, secret: this.secret, now: Date.now() })
    const answer = (await response.json()) as { body: { peerRequests: number } }
    return answer.body.peerRequests
  }
}
