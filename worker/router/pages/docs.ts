/** The description of the API for humans: one page without scripts, made from OpenAPI and its examples. */
import { html } from 'hono/html'
import { EXAMPLES } from '../../../shared/api/examples.ts'
import { LIMIT_ROWS } from '../../../shared/api/limits-table.ts'
import type { JsonSchema, OpenApiDocument, OpenApiOperation } from '../../../shared/api/openapi.ts'
import { PROBLEM_CODES, PROBLEMS, type ProblemCode } from '../../../shared/api/problems.ts'
import { problemsOf, ROUTES } from '../../../shared/api/routes.ts'
import type { Json } from '../../../shared/json.ts'
import { type CurlOptions, curlOf } from './curl.ts'
import { type PageOptions, renderPage } from './page.ts'
import { type Html, nameOf, renderFields, renderRows } from './schema.ts'

type Fields = { readonly [field: string]: Json }
type Schemas = OpenApiDocument['components']['schemas']

interface Operation extends OpenApiOperation {
  readonly path: string
  readonly method: string
}

export type DocsOptions = CurlOptions & PageOptions

export function renderDocs(document: OpenApiDocument, options: DocsOptions): Html {
  const { info, tags, components } = document
  const operations = operationsOf(document)
  const bodies = new Set(
    operations.flatMap(({ requestBody }) => (requestBody ? [bodyName(requestBody)] : [])),
  )
  const others = Object.entries(components.schemas).filter(([id]) => !bodies.has(id))
  const groups = tags.map(tag => ({
    ...tag,
    own: operations.filter(({ tags: [name] }) => name === tag.name),
  }))
  return renderPage(
    `${info.title} API`,
    'docs',
    options,
    html`<header>
<h1>${info.title} API</h1>
<p>${info.description}</p>
<p>Version ${info.version} at <code>${options.url}</code>, also as <a href="openapi.json">OpenAPI</a>. ${renderKeyHint(options)}
<code>$GRANT</code> and <code>$TICKET</code> stand for the <code>id</code> in an earlier answer.</p>
</header>
<nav aria-label="Contents">
${groups.map(
  ({ name, own }) => html`<h2><a href="#${anchor(name)}">${name}</a></h2>
<ul>${own.map(({ operationId, method, path }) => html`<li><a href="#${operationId}"><b class="${method}">${method}</b> <span>${path}</span></a></li>`)}</ul>`,
)}
<h2>Reference</h2>
<ul><li><a href="#errors">Errors</a></li><li><a href="#limits">Limits</a></li><li><a href="#schemas">Schemas</a></li></ul>
</nav>
<main>
${groups.map(
  ({ name, description, own }) => html`<h2 id="${anchor(name)}">${name}</h2>
<p>${description}</p>
${own.map(operation => renderOperation(operation, components.schemas, options))}`,
)}
<h2 id="errors">Errors</h2>
<p>Every refusal is <code>application/problem+json</code> (RFC 9457), a <a href="#schema-Problem">Problem</a> with one of these codes.</p>
${renderProblems()}
<h2 id="limits">Limits</h2>
${renderLimits()}
<h2 id="schemas">Schemas</h2>
${others.map(([id, schema]) => html`<section id="schema-${id}"><h3>${id}</h3>${renderFields(schema)}</section>`)}
</main>`,
  )
}

function operationsOf({ paths }: OpenApiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  )
}

function renderKeyHint({ hasKeys }: CurlOptions): Html | string {
  if (!hasKeys) return 'This service is open to its own machine: it asks for no key. '
  return html`Every call but those of the service itself needs a key, as <code>Authorization: Bearer &lt;key&gt;</code>; the examples take
it from <code>$BATON_KEY</code>. `
}

// ---------------------------------------------------------------- calls

function renderOperation(operation: Operation, schemas: Schemas, options: CurlOptions): Html {
  const { operationId, path, method, summary, description, requestBody, security } = operation
  const isOpen = Array.isArray(security) && security.length === 0
  return html`<section id="${operationId}">
<h3><b class="${method}">${method}</b> <code>${path}</code></h3>
<p class="summary">${summary}.</p>
${description === undefined ? '' : html`<p>${withCode(description)}</p>`}
${isOpen ? html`<p>It needs no key.</p>` : ''}
<pre class="curl"><code>${curlOf(operationId, options)}</code></pre>
${renderAnswer(operation)}
${renderParameters(operation)}
${requestBody === undefined ? '' : renderBody(bodyName(requestBody), schemas)}
${renderAnswers(operation)}
</section>`
}

function renderAnswer({ operationId }: Operation): Html {
  const { status, answer, text } = EXAMPLES[operationId]
  const shown = answer === undefined ? text : pretty(answer)
  return html`<pre class="answer"><b>${status}</b>${shown === undefined ? '' : `\n${shown.trimEnd()}`}</pre>`
}

/** In one line if it fits. */
function pretty(value: Json): string {
  const line = JSON.stringify(value)
  return line.length <= 76
    ? line
    : JSON.stringify(value, null, 2).replaceAll(/\{\n\s+([^{}[\]\n]{1,60})\n\s+\}/g, '{ $1 }')
}

function renderParameters({ parameters }: Operation): Html | '' {
  if (parameters.length === 0) return ''
  const fields = parameters.map(({ name, in: place, required, schema, description = '' }) => {
    return { name, place, isOptional: !required, schema: { ...schema, description } }
  })
  return html`<table class="fields"><tbody>${renderRows(fields)}</tbody></table>`
}

function bodyName({ content }: NonNullable<OpenApiOperation['requestBody']>): string {
  return nameOf((content['application/json'] as { readonly schema: JsonSchema }).schema)
}

function renderBody(name: string, schemas: Schemas): Html {
  return html`<div id="schema-${name}"><h4>Body</h4>${renderFields(schemas[name]!)}</div>`
}

function renderAnswers({ operationId, responses }: Operation): Html {
  const good = Object.entries(responses).filter(([status]) => Number(status) < 400)
  const codes = problemsOf(ROUTES[operationId])
  return html`<h4>Answers</h4>
<table class="answers"><tbody>${good.map(([status, answer]) => renderGood(status, answer as Fields))}</tbody></table>
<p class="refusals">Or it is refused: ${codes.map((code, index) => html`${index === 0 ? '' : ', '}${renderCode(code)}`)}.</p>`
}

function renderGood(status: string, answer: Fields): Html {
  const content = Object.values((answer.content ?? {}) as Fields) as { readonly schema?: JsonSchema }[]
  const schema = content[0]?.schema
  const isNamed = schema !== undefined && '$ref' in schema
  const link = isNamed ? html` <a href="#schema-${nameOf(schema)}">${nameOf(schema)}</a>` : ''
  return html`<tr><td><b>${status}</b></td><td>${answer.description as string}${link}</td></tr>`
}

function renderCode(code: ProblemCode): Html {
  return html`<a href="#problem-${code}">${PROBLEMS[code].status} ${code}</a>`
}

// ---------------------------------------------------------------- reference

function renderProblems(): Html {
  const byStatus = [...PROBLEM_CODES].sort((left, right) => PROBLEMS[left].status - PROBLEMS[right].status)
  const rows = byStatus.map(code => {
    const { status, title, advice } = PROBLEMS[code]
    return html`<tr id="problem-${code}"><td><b>${status}</b></td><td><code>${code}</code></td><td>${title}.</td><td>${withCode(advice)}</td></tr>`
  })
  return html`<table class="problems"><thead><tr><th>status</th><th>code</th><th>meaning</th><th>what to do</th></tr></thead><tbody>${rows}</tbody></table>`
}

function renderLimits(): Html {
  const rows = LIMIT_ROWS.map(row => html`<tr>${row.map(cell => html`<td>${withCode(cell)}</td>`)}</tr>`)
  return html`<table class="limits"><thead><tr><th>what</th><th>limit</th><th>beyond it</th></tr></thead><tbody>${rows}</tbody></table>`
}

/** Text with `code` in it. */
function withCode(text: string): (Html | string)[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))
}

function anchor(title: string): string {
  return title.toLowerCase().replaceAll(' ', '-')
}
