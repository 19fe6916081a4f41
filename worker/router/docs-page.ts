/** The description of the API for humans: one page without scripts, made from OpenAPI. */
import { html, raw } from 'hono/html'
import { API_LIMITS } from '../../shared/api/limits.ts'
import type {
  JsonSchema,
  OpenApiDocument,
  OpenApiOperation,
  OpenApiParameter,
} from '../../shared/api/openapi.ts'
import { PROBLEM_CODES, PROBLEMS } from '../../shared/api/problems.ts'
import type { Json } from '../../shared/json.ts'
import { DOCS_STYLE } from './docs-style.ts'

type Html = ReturnType<typeof html>
type Fields = { readonly [field: string]: Json }

/** `nonce` is the one that the Content-Security-Policy of the response allows a style with. */
export function renderDocs(document: OpenApiDocument, nonce: string): Html {
  const { info, paths, components, servers } = document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title} API</title>
<style nonce="${nonce}">${raw(DOCS_STYLE)}</style>
</head>
<body>
<header>
<h1>${info.title}</h1>
<p>${info.description}</p>
<p>Version ${info.version}, at <code>${servers[0]!.url}</code>, as <a href="openapi.json">OpenAPI</a>. Send a key as
<code>Authorization: Bearer &lt;key&gt;</code>.</p>
</header>
<nav>
<ul>${operations.map(({ path, method, operation }) => renderLink(path, method, operation))}</ul>
</nav>
<main>
${operations.map(({ path, method, operation }) => renderOperation(path, method, operation))}
<h2 id="problems">Problems</h2>
<p>Every refusal is <code>application/problem+json</code> (RFC 9457) and has one of these codes.</p>
${renderProblems()}
<h2 id="limits">Limits</h2>
${renderLimits()}
<h2 id="schemas">Schemas</h2>
${Object.entries(components.schemas).map(([id, schema]) => renderSchema(id, schema))}
</main>
</body>
</html>`
}

function renderLink(path: string, method: string, { operationId }: OpenApiOperation): Html {
  return html`<li><a href="#${operationId}"><b class="${method}">${method}</b> ${path}</a></li>`
}

function renderOperation(path: string, method: string, operation: OpenApiOperation): Html {
  const { operationId, summary, description, parameters, requestBody, responses, security } = operation
  const isOpen = Array.isArray(security) && security.length === 0
  return html`<section id="${operationId}">
<h2><b class="${method}">${method}</b> <code>${path}</code></h2>
<p>${summary}.${description === undefined ? '' : ` ${description}`}${isOpen ? ' Needs no key.' : ''}</p>
${parameters.length === 0 ? '' : renderParameters(parameters)}
${requestBody === undefined ? '' : renderBody(requestBody.content)}
<table><tbody>${Object.entries(responses).map(([status, answer]) => renderAnswer(status, answer as Fields))}</tbody></table>
</section>`
}

function renderParameters(parameters: readonly OpenApiParameter[]): Html {
  const rows = parameters.map(
    ({ name, in: place, description, schema }) =>
      html`<tr><td><code>${name}</code></td><td>${place}</td><td><code>${shape(schema)}</code></td><td>${description ?? ''}</td></tr>`,
  )
  return html`<table><tbody>${rows}</tbody></table>`
}

function renderBody(content: Fields): Html {
  const { schema } = content['application/json'] as { readonly schema: JsonSchema }
  return html`<p>Body: ${renderReference(schema)}</p>`
}

function renderAnswer(status: string, answer: Fields): Html {
  const content = Object.values((answer.content ?? {}) as Fields) as { readonly schema?: JsonSchema }[]
  const schema = content[0]?.schema
  const isNamed = schema !== undefined && '$ref' in schema
  return html`<tr><td><b>${status}</b></td><td>${answer.description as string}</td><td>${isNamed ? renderReference(schema) : ''}</td></tr>`
}

function renderReference(schema: JsonSchema): Html {
  const id = nameOf(schema)
  return html`<a href="#schema-${id}">${id}</a>`
}

function renderProblems(): Html {
  const rows = PROBLEM_CODES.map(code => {
    const { status, title, retryable } = PROBLEMS[code]
    return html`<tr id="problem-${code}"><td><b>${status}</b></td><td><code>${code}</code></td><td>${title}.${retryable ? ' Try again later.' : ''}</td></tr>`
  })
  return html`<table><tbody>${rows}</tbody></table>`
}

function renderLimits(): Html {
  const rows = Object.entries(API_LIMITS).map(([name, limit]) => {
    const text = typeof limit === 'number' ? String(limit) : `${limit.least} to ${limit.most}`
    return html`<tr><td><code>${name}</code></td><td>${text}</td></tr>`
  })
  return html`<table><tbody>${rows}</tbody></table>`
}

function renderSchema(id: string, schema: JsonSchema): Html {
  return html`<section id="schema-${id}"><h3>${id}</h3><pre>${shape(schema, '')}</pre></section>`
}

function nameOf(schema: JsonSchema): string {
  return String(schema.$ref).split('/').at(-1)!
}

/** A schema as one would write it by hand: `{fence: integer, ttlMs?: 1000..600000}`. Over several lines if indented. */
function shape(schema: JsonSchema, indent?: string): string {
  if ('$ref' in schema) return nameOf(schema)
  if (schema.enum !== undefined)
    return (schema.enum as readonly Json[]).map(value => JSON.stringify(value)).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const options = (schema.anyOf ?? schema.oneOf ?? schema.allOf) as readonly JsonSchema[] | undefined
  if (options !== undefined)
    return options.map(option => shape(option, indent)).join(indent === undefined ? ' | ' : '\n| ')
  switch (schema.type) {
    case 'object':
      return objectShape(schema, indent)
    case 'array':
      return `[${shape((schema.items ?? {}) as JsonSchema)}, …]`
    case 'integer':
    case 'number':
      return numberShape(schema)
    default:
      return typeof schema.type === 'string' ? schema.type : 'any JSON'
  }
}

function objectShape(schema: JsonSchema, indent: string | undefined): string {
  const required = (schema.required ?? []) as readonly string[]
  const fields = Object.entries((schema.properties ?? {}) as { readonly [name: string]: JsonSchema }).map(
    ([name, field]) => `${name}${required.includes(name) ? '' : '?'}: ${shape(field)}`,
  )
  return indent === undefined
    ? `{${fields.join(', ')}}`
    : `{\n${fields.map(field => `  ${indent}${field}`).join('\n')}\n${indent}}`
}

function numberShape(schema: JsonSchema): string {
  const { minimum, maximum, type } = schema
  const isBounded = minimum !== undefined && maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER
  return isBounded ? `${minimum}..${maximum}` : String(type)
}
