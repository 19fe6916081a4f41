/**
 * A resource that is not made with `defineResource` and follows no form: it throws, and answers what it
 * likes.
 */
import type { Json } from '../../shared/json.ts'
import { digest } from '../../shared/resource/canonical.ts'
import type { Cells, Resource } from '../../shared/resource/resource.ts'

type RawOp = { readonly throw: string } | { readonly answer: Json } | { readonly count: number }

export const rawResource: Resource = {
  name: 'raw',
  initial: () => ({}),
  apply(cells, operation) {
    const [op] = operation as unknown as readonly RawOp[]
    if ('throw' in op!) throw new Error(op.throw)
    if ('answer' in op!) return { result: op.answer, changes: [] }
    const value = ((cells['=count'] as { value: number } | undefined)?.value ?? 0) + op!.count
    return { result: value, changes: [{ cell: '=count', value: { value, revision: 1 } }] }
  },
  snapshot: cells => ({ ...cells }),
  restore: snapshot => ({ ...(snapshot as Cells) }),
  hash: cells => digest(cells),
}
