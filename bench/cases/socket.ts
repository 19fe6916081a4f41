/** A WebSocket on which each thing that is said is answered by one message. */
import { WebSocket } from 'undici'

interface Waiting<Answer> {
  resolve(answer: Answer): void
  reject(error: Error): void
}

export class AnsweringSocket<Said, Answer> {
  private readonly socket: WebSocket
  private readonly waiting: Waiting<Answer>[] = []

  private constructor(socket: WebSocket, onMessage: (data: string, socket: WebSocket) => Answer | null) {
    this.socket = socket
    socket.addEventListener('message', ({ data }) => {
      const answer = onMessage(data as string, socket)
      if (answer !== null) this.waiting.shift()?.resolve(answer)
    })
    socket.addEventListener('close', ({ code }) => {
      for (const { reject } of this.waiting.splice(0)) reject(new Error(`the socket was closed with ${code}`))
    })
  }

  /** `onMessage` gives the answer that a message is, or `null` if it is something else. */
  static open<Said, Answer>(
    url: string,
    onMessage: (data: string, socket: WebSocket) => Answer | null,
  ): Promise<AnsweringSocket<Said, Answer>> {
    const socket = new WebSocket(url.replace(/^http/, 'ws'))
    const opened = new AnsweringSocket<Said, Answer>(socket, onMessage)
    return new Promise((resolve, reject) => {
      socket.addEventListener('open', () => resolve(opened))
      socket.addEventListener('error', () => reject(new Error(`${url}: the connection was refused`)))
    })
  }

  ask(said: Said): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject })
      this.socket.send(JSON.stringify(said))
    })
  }

  close(): void {
    this.socket.close()
  }
}
