/** A schema for readers: its fields with their types, defaults and what they mean. */
import { html } from 'hono/html'
import type { JsonSchema } from '../../../shared/api/openapi.ts'
import type { Json } from '../../../shared/json.ts'

export type Html = ReturnType<typeof html>

interface Field {
  readonly name: string
  readonly isOptional: boolean
  readonly schema: JsonSchema
}

/** A table of its fields; one for each shape if it has several. */
export function renderFields(schema: JsonSchema): Html {
  const variants = variantsOf(schema)
  if (variants === null) return html`${fieldTable(fieldsOf(schema))}`
  return html`${variants.map(
    variant => html`<p class="variant"><code>${shapeOf(variant)}</code> ${textOf(variant.description)}</p>`,
  )}${fieldTable(distinct(variants.flatMap(fieldsOf)))}`
}

/** `place`: where the field is, if it is a parameter. */
export function renderRows(fields: readonly (Field & { readonly place?: string })[]): Html[] {
  return fields.map(({ name, isOptional, schema, place }) => {
    const fallback =
      schema.default === undefined ? '' : html`, default <code>${JSON.stringify(schema.default)}</code>`
    return html`<tr><td><code class="name">${name}${isOptional ? '?' : ''}</code>${place === undefined ? '' : html` <small>${place}</small>`}</td>
<td>${typeOf(schema)}${fallback}</td><td>${textOf(schema.description)}</td></tr>`
  })
}

function fieldTable(fields: readonly Field[]): Html | '' {
  const told = fields.filter(({ schema }) => schema.const === undefined)
  return told.length === 0 ? '' : html`<table class="fields"><tbody>${renderRows(told)}</tbody></table>`
}

/** What the shapes of a union say of the same field is said once. */
function distinct(fields: readonly Field[]): Field[] {
  const byText = new Map<string, Field>()
  for (const field of fields) {
    const key = `${field.name} ${textOf(field.schema.description)}`
    if (!byText.has(key)) byText.set(key, { ...field, isOptional: false })
  }
  return [...byText.values()]
}

function variantsOf(schema: JsonSchema): readonly JsonSchema[] | null {
  return ((schema.anyOf ?? schema.oneOf) as readonly JsonSchema[] | undefined) ?? null
}

function fieldsOf(schema: JsonSchema): Field[] {
  const required = (schema.required ?? []) as readonly string[]
  const properties = (schema.properties ?? {}) as { readonly [name: string]: JsonSchema }
  return Object.entries(properties).map(([name, field]) => {
    return { name, isOptional: !required.includes(name), schema: field }
  })
}

/** With links to the schemas that have a name. */
function typeOf(schema: JsonSchema): Html {
  const name = nameIn(schema)
  if (name === null) return html`<code>${shapeOf(schema)}</code>`
  const isMany = schema.type === 'array'
  return html`${isMany ? '[' : ''}<a href="#schema-${name}">${name}</a>${isMany ? ', …]' : ''}`
}

/** A reference, also in a list or beside `null`. */
function nameIn(schema: JsonSchema): string | null {
  if (schema.$ref !== undefined) return nameOf(schema)
  if (schema.type === 'array') return nameIn((schema.items ?? {}) as JsonSchema)
  for (const inner of (schema.allOf ?? schema.anyOf ?? []) as readonly JsonSchema[])
    if (inner.$ref !== undefined) return nameOf(inner)
  return null
}

export function nameOf(schema: JsonSchema): string {
  return String(schema.$ref).split('/').at(-1)!
}

function textOf(text: Json | undefined): string {
  return typeof text === 'string' ? text : ''
}

/** A schema as one would write it by hand: `{fence: integer, ttlMs?: 1000..600000}`. */
export function shapeOf(schema: JsonSchema): string {
  if ('$ref' in schema) return nameOf(schema)
  if (schema.enum !== undefined)
    return (schema.enum as readonly Json[]).map(value => JSON.stringify(value)).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const options = (schema.anyOf ?? schema.oneOf ?? schema.allOf) as readonly JsonSchema[] | undefined
  if (options !== undefined) return [...new Set(options.map(shapeOf))].join(' | ')
  switch (schema.type) {
    case 'object':
      return `{${fieldsOf(schema)
        .map(({ name, isOptional, schema: field }) => `${name}${isOptional ? '?' : ''}: ${shapeOf(field)}`)
        .join(', ')}}`
    case 'array':
      return `[${shapeOf((schema.items ?? {}) as JsonSchema)}, …]`
    case 'integer':
    case 'number':
      return numberShape(schema)
    default:
      return typeof schema.type === 'string' ? schema.type : 'any JSON'
  }
}

function numberShape({ minimum, maximum, type }: JsonSchema): string {
  const isBounded = minimum !== undefined && maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER
  return isBounded ? `${minimum}..${maximum}` : String(type)
}
