/**
 * What is wrong with an op, said so that one can mend it. A schema sees an op that fits none of its shapes; a
 * person has misspelt its name, or left something out of it, and wants to know which of the two.
 */
import { API_LIMITS } from './limits.ts'
import { OP_NAMES, OP_SHAPES } from './ops.ts'
import type { FieldError } from './problems.ts'
import { check } from './validation.ts'

type OpName = keyof typeof OP_SHAPES

/** As one writes them: `{"put": key, "value": …, "ifRevision"?: …}`. */
const WRITTEN: { readonly [name in OpName]: string } = {
  put: '{"put": key, "value": any JSON, "ifRevision"?: number}',
  delete: '{"delete": key, "ifRevision"?: number}',
  get: '{"get": key}',
  increment: '{"increment": key, "by"?: number}',
  append: '{"append": key, "value": any JSON}',
}

/** The errors of a request that has `ops`, with better ones for those of its ops. */
export function explainOps(errors: readonly FieldError[], ops: unknown): readonly FieldError[] {
  const isOfOp = ({ path }: FieldError) => path.startsWith('ops.')
  if (!Array.isArray(ops) || !errors.some(isOfOp)) return errors
  const others = errors.filter(error => !isOfOp(error))
  const explained = ops.flatMap((op, index) => explainOp(op, `ops.${index}`))
  return [...explained, ...others].slice(0, API_LIMITS.errorsListed)
}

function explainOp(op: unknown, path: string): FieldError[] {
  if (typeof op !== 'object' || op === null || Array.isArray(op))
    return [wrong(path, `must be an object, one of ${list()}`)]
  const names = OP_NAMES.filter(name => Object.hasOwn(op, name))
  const [name] = names
  if (name === undefined) return [wrong(path, `is an unknown op; the ops are ${list()}`)]
  if (names.length > 1) return [wrong(path, `does more than one thing: ${names.join(' and ')}`)]
  const checked = check(OP_SHAPES[name], op, 'body')
  if (checked.ok) return []
  return checked.errors.map(error => {
    const where = error.path === '' ? path : `${path}.${error.path}`
    return wrong(where, `${error.message}; ${name} is written ${WRITTEN[name]}`)
  })
}

const list = (): string => Object.values(WRITTEN).join(', ')

function wrong(path: string, message: string): FieldError {
  return { in: 'body', path, message }
}
