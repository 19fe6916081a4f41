/** What the platform calls in an instance; participant-entries.ts makes them of a participant. */
import type { Socket } from '../../../worker/participant/runtime.ts'
import type { SimRequest, SimResponse } from './http.ts'
import type { ServerSocket } from './sockets.ts'

export interface Entries {
  /** What the router asks: see worker/participant/calls.ts. `openSocket` is for a session. */
  fetch(request: SimRequest, openSocket: (tag: string) => ServerSocket): Promise<SimResponse>
  /** What another participant asks: JSON, and JSON back. */
  peer(body: string): Promise<string>
  alarm(): Promise<void>
  socketSays(socket: Socket, text: string): void | Promise<void>
  socketCloses(socket: Socket): void | Promise<void>
}
