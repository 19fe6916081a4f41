/** What a client may ask the plain object for; `acquire` is answered when the lock is the client's. */
export type PlainCall =
  | { readonly type: 'acquire'; readonly token: string }
  | { readonly type: 'release'; readonly token: string }
  | { readonly type: 'write'; readonly token: string; readonly key: string; readonly value: string }

export interface PlainAnswer {
  readonly ok: boolean
}
