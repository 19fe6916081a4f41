/** From what a schema finds wrong to what a client can read: each path, and what is wrong there. */
import type * as z from 'zod'
import { API_LIMITS } from './limits.ts'
import type { FieldError } from './problems.ts'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

export type Checked<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly errors: readonly FieldError[] }

export function check<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  place: FieldError['in'],
): Checked<z.output<Schema>> {
  const parsed = schema.safeParse(input)
  if (parsed.success) return { ok: true, value: parsed.data }
  const errors = describeAll(parsed.error.issues, [], place)
  return {
    ok: false,
    errors: errors.slice(0, API_LIMITS.errorsListed).map(error => ({ in: place, ...error })),
  }
}

/** A sentence for the `detail` of a problem, and for whoever sees nothing else of it. `whole`: as below. */
export function summarize(errors: readonly FieldError[], whole?: string): string {
  const [first, ...others] = errors
  if (first === undefined) return 'The request is malformed.'
  const more =
    others.length === 0 ? '' : ` (There ${others.length === 1 ? 'is' : 'are'} ${others.length} more.)`
  return `${clause(first, whole)}.${more}`
}

/** The first mistake as a part of a longer sentence. `whole`: what to call the whole value. */
export function firstMistake(errors: readonly FieldError[], whole: string): string {
  return errors[0] === undefined ? `${whole} is malformed` : clause(errors[0], whole)
}

/** Every message goes on from its path: "waitMs must be at most 25000". */
function clause({ path, message, in: place }: FieldError, whole = `The ${place}`): string {
  return `${path === '' ? whole : path} ${message}`
}

type Described = Omit<FieldError, 'in'>

function describeAll(issues: readonly Issue[], outer: Path, place: FieldError['in']): Described[] {
  const strictest = issues.filter(issue => !issues.some(other => isStricter(other, issue)))
  return strictest.flatMap(issue => describe(issue, outer, place))
}

/** What is beyond the safe integers is beyond the limit of its own as well, and only that one counts. */
function isStricter(one: Issue, other: Issue): boolean {
  if (join(one.path) !== join(other.path)) return false
  if (one.code === 'too_big' && other.code === 'too_big') return one.maximum < other.maximum
  return one.code === 'too_small' && other.code === 'too_small' && one.minimum > other.minimum
}

function describe(issue: Issue, outer: Path, place: FieldError['in']): Described[] {
  const path = [...outer, ...issue.path]
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map(key => unknownField(path, key))
    case 'invalid_union':
      return describeUnion(issue, path, place)
    case 'invalid_type':
      return [
        {
          path: join(path),
          message: isMissing(issue) ? 'is missing' : `must be ${typeName(issue.expected, place)}`,
        },
      ]
    case 'invalid_value':
      return [{ path: join(path), message: `must be ${alternatives(issue.values)}` }]
    case 'too_big':
      return [{ path: join(path), message: `must ${atMost(issue.origin, Number(issue.maximum))}` }]
    case 'too_small':
      return [{ path: join(path), message: `must ${atLeast(issue.origin, Number(issue.minimum))}` }]
    default:
      return [{ path: join(path), message: issue.message }]
  }
}

/** A field without a name has no path of its own. */
function unknownField(outer: Path, key: string): Described {
  if (key === '') return { path: join(outer), message: 'has a field without a name' }
  return { path: join([...outer, key]), message: 'is not a known field' }
}

const TYPE_NAMES: { readonly [type: string]: string } = {
  int: 'a whole number',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

/** All numbers of a query are whole ones. */
function typeName(type: string, place: FieldError['in']): string {
  const name = place === 'query' && type === 'number' ? 'int' : type
  return TYPE_NAMES[name] ?? `a ${name}`
}

function alternatives(values: readonly unknown[]): string {
  const written = values.map(value => JSON.stringify(value))
  return written.length === 1 ? written[0]! : `one of ${written.join(', ')}`
}

function atMost(origin: string, most: number): string {
  if (origin === 'string') return `have at most ${most} characters`
  return origin === 'array' ? `have at most ${most} items` : `be at most ${most}`
}

function atLeast(origin: string, least: number): string {
  if (origin !== 'string' && origin !== 'array') return `be at least ${least}`
  return least === 1
    ? 'not be empty'
    : `have at least ${least} ${origin === 'string' ? 'characters' : 'items'}`
}

/** zod keeps the value that it refused out of the issue, but the message tells. */
function isMissing(issue: Issue): boolean {
  return issue.message.endsWith('received undefined')
}

/** What zod says of a union that says nothing of its own. */
const ANY_SHAPE = 'Invalid input'

/**
 * An op is one of several shapes and has no field that says which. The intended shape is the one that knows
 * all the fields that are there, or else the one with the fewest complaints.
 */
function describeUnion(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  path: Path,
  place: FieldError['in'],
): Described[] {
  // Some say in words of their own what they are.
  if (issue.message !== ANY_SHAPE) return [{ path: join(path), message: issue.message }]
  const knowsAll = (issues: readonly Issue[]) => issues.every(({ code }) => code !== 'unrecognized_keys')
  const shapes = [...issue.errors].sort(
    (left, right) => Number(knowsAll(right)) - Number(knowsAll(left)) || left.length - right.length,
  )
  const meant = shapes[0]
  const isAny = meant?.some(({ code, path }) => code === 'invalid_type' && path.length === 0)
  if (meant === undefined || isAny) return [{ path: join(path), message: 'has none of the known shapes' }]
  return describeAll(meant, path, place)
}

function join(path: Path): string {
  return path.map(String).join('.')
}
