/** What a socket carries with it, also while no instance is there. */
import type { Socket, SocketAttachment } from '../runtime.ts'

export const NOTHING_KNOWN: SocketAttachment = { heardAt: 0, ttlMs: null, unreadBytes: 0, probe: null }

export const attachmentOf = (socket: Socket): SocketAttachment => socket.attachment() ?? NOTHING_KNOWN
