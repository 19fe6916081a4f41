/**
 * JSON that looks like what a schema asks for, with something wrong: made from the very schemas that the
 * service checks with. The result is text, because some of what is wrong (1e400, a key twice) does not
 * survive `JSON.stringify`.
 */
import * as z from 'zod'
import type { Random } from '../simulator/random.ts'
import { ODD_NUMBERS, ODD_TEXTS, oddJson } from './junk.ts'

interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: { readonly [name: string]: Schema }
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minimum?: number
  readonly maximum?: number
  readonly $ref?: string
  readonly $defs?: { readonly [name: string]: Schema }
}

const known = new WeakMap<z.ZodType, Schema>()

function schemaOf(type: z.ZodType): Schema {
  const before = known.get(type)
  if (before !== undefined) return before
  const schema = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }) as Schema
  known.set(type, schema)
  return schema
}

/** How often a value is not what it should be. */
const WRONG = 0.12

export function schemaShaped(type: z.ZodType, random: Random): string {
  const root = schemaOf(type)
  return new Shaper(root, random).text(root, 0)
}

/** The names and the schemas of an object's fields. */
export function fieldsOf(type: z.ZodType): [name: string, schema: z.ZodType][] {
  return Object.entries((type as z.ZodObject).shape ?? {}) as [string, z.ZodType][]
}

class Shaper {
  private readonly root: Schema
  private readonly random: Random

  constructor(root: Schema, random: Random) {
    this.root = root
    this.random = random
  }

  text(schema: Schema, depth: number): string {
    const { random } = this
    if (random.chance(WRONG)) return this.wrong(depth)
    if (schema.$ref !== undefined) return this.text(this.resolve(schema.$ref), depth)
    const choices = schema.anyOf ?? schema.oneOf
    if (choices !== undefined) return this.text(random.pick(choices), depth)
    if (schema.const !== undefined) return JSON.stringify(schema.const)
    if (schema.enum !== undefined) return JSON.stringify(random.pick(schema.enum))
    switch (schema.type) {
      case 'object':
        return this.object(schema, depth)
      case 'array':
        return `[${Array.from({ length: random.below(4) }, () => this.text(schema.items ?? {}, depth + 1)).join(',')}]`
      case 'integer':
      case 'number':
        return this.number(schema)
      case 'boolean':
        return random.chance(0.5) ? 'true' : 'false'
      case 'string':
        return JSON.stringify(random.chance(0.7) ? `text-${random.below(50)}` : random.pick(ODD_TEXTS))
      default:
        return random.pick(['null', '1', '"x"', '[]', '{}', '[1,[2,[3]]]'])
    }
  }

  private resolve(ref: string): Schema {
    return this.root.$defs?.[ref.split('/').at(-1)!] ?? this.root
  }

  private object({ properties = {}, required = [] }: Schema, depth: number): string {
    const { random } = this
    const fields = Object.entries(properties)
      .filter(([name]) => random.chance(required.includes(name) ? 0.95 : 0.4))
      .map(([name, schema]) => `${JSON.stringify(name)}:${this.text(schema, depth + 1)}`)
    if (random.chance(WRONG)) fields.push(`${JSON.stringify(random.pick(ODD_TEXTS))}:1`)
    if (random.chance(WRONG / 2) && fields.length > 0) fields.push(fields[0]!)
    return `{${fields.join(',')}}`
  }

  /**
   * At its limits, just beyond them, or far away; short waits, so that what is valid by chance does not wait
   * for long.
   */
  private number({ minimum = 0, maximum = 1_000 }: Schema): string {
    const { random } = this
    if (random.chance(0.3)) return random.pick(ODD_NUMBERS)
    return String(random.pick([minimum, minimum - 1, minimum + 1, maximum + 1, Math.min(maximum, 1_000)]))
  }

  private wrong(depth: number): string {
    const { random } = this
    return random.pick([
      () => 'null',
      () => 'true',
      () => '""',
      () => '[]',
      () => '{}',
      () => random.pick(ODD_NUMBERS),
      () => JSON.stringify(random.pick(ODD_TEXTS)),
      () => (depth < 2 ? oddJson(random) : '[[[[]]]]'),
    ])()
  }
}
