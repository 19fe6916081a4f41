/** Checks values by the schemas of their keys: before they are sent, and when they are read. */
import type { Outcome } from '../shared/api/problems.ts'
import { SchemaError } from './errors.ts'
import type { SchemaIssue, StandardSchema, StateSchemas } from './state.ts'

/** Of the operation at stake, if there is one. */
interface Known {
  readonly opId?: string
  readonly outcome?: Outcome
}

export class Schemas {
  readonly #exact: ReadonlyMap<string, StandardSchema>
  /** The longest prefix first: the closest one counts. */
  readonly #prefixes: readonly (readonly [prefix: string, schema: StandardSchema])[]

  constructor(schemas: StateSchemas) {
    const all = Object.entries(schemas)
    this.#exact = new Map(all.filter(([pattern]) => !pattern.endsWith('*')))
    this.#prefixes = all
      .filter(([pattern]) => pattern.endsWith('*'))
      .map(([pattern, schema]) => [pattern.slice(0, -1), schema] as const)
      .sort(([left], [right]) => right.length - left.length)
  }

  /** Returns the value as its schema gives it. A value without a schema stays as it is. */
  async checked(key: string, value: unknown, known: Known = {}): Promise<unknown> {
    const schema = this.#exact.get(key) ?? this.#prefixes.find(([prefix]) => key.startsWith(prefix))?.[1]
    if (schema === undefined) return value
    const result = await schema['~standard'].validate(value)
    if (result.issues === undefined) return result.value
    throw schemaError(key, result.issues, known)
  }

  async read<Read extends { readonly key: string; readonly value: unknown; readonly revision: number }>(
    read: Read,
  ): Promise<Read> {
    return read.revision === 0 ? read : { ...read, value: await this.checked(read.key, read.value) }
  }

  /**
   * A value is sent as it was given, even if its schema would change it: the schema is applied again when it
   * is read.
   */
  async checkOps(ops: readonly unknown[]): Promise<void> {
    for (const op of ops as readonly { readonly put?: string; readonly value?: unknown }[])
      if (typeof op?.put === 'string') await this.checked(op.put, op.value, { outcome: 'not-applied' })
  }

  async checkResults<Answer>(ops: readonly unknown[], answer: Answer, opId: string): Promise<Answer> {
    const { applied, results } = answer as { applied: boolean; results: readonly GetResult[] }
    if (!applied) return answer
    const checked = results.map(async (result, index) => {
      const { get } = ops[index] as { readonly get?: string }
      if (typeof get !== 'string' || result.revision === 0) return result
      return { ...result, value: await this.checked(get, result.value, { opId, outcome: 'applied' }) }
    })
    return { ...answer, results: await Promise.all(checked) }
  }
}

interface GetResult {
  readonly value: unknown
  readonly revision: number
}

function schemaError(key: string, issues: readonly SchemaIssue[], known: Known): SchemaError {
  const detail = issues.map(({ message, path = [] }) => [...[key, ...path.map(nameOf)], message].join(': '))
  return new SchemaError(
    { code: 'schema', status: 0, detail: detail.join('; '), retryable: false, ...known },
    issues,
  )
}

const nameOf = (part: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof part === 'object' ? part.key : part)
