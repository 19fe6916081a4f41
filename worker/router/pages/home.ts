/** What a browser finds at the root: how the service is, three lines to try, and where to read on. */
import { html } from 'hono/html'
import type { HomeAnswer } from '../../../shared/api/types.ts'
import type { KeySource } from '../keys.ts'
import { type CurlOptions, curlOf } from './curl.ts'
import { type PageOptions, renderPage } from './page.ts'
import type { Html } from './schema.ts'

export interface HomeOptions extends CurlOptions, PageOptions {
  readonly keys: KeySource['type']
}

export function renderHome(about: HomeAnswer, options: HomeOptions): Html {
  const { version, protocol, participants, ledger, links } = about
  const isWell = ledger === undefined || (ledger.healed && ledger.unfinishedLocks === 0)
  return renderPage(
    'Baton',
    'home',
    options,
    html`<header>
<h1>Baton</h1>
<p>A named lock together with the state it guards, replicated on Durable Objects in several regions.</p>
</header>
<main>
<dl class="state">
<div><dt>Health</dt><dd class="${isWell ? 'good' : 'bad'}">${isWell ? 'ok' : 'recovering'}</dd></div>
<div><dt>Version</dt><dd>${version}</dd></div>
<div><dt>Participants</dt><dd>${participants.length}</dd></div>
<div><dt>Keys</dt><dd class="${options.keys === 'closed' ? 'bad' : ''}">${KEYS[options.keys]}</dd></div>
</dl>
${isWell ? '' : html`<p>This process is being given back what it lost: ${ledger!.unfinishedLocks} locks are not finished.</p>`}
<p>A new lock has ${participants.length} participants${placesOf(participants)}, which agree by <code>${protocol}</code>, unless it is configured otherwise.</p>
<h2>Try it</h2>
${KEY_HINTS[options.keys]}
<p>Change what a lock guards, in one call:</p>
<pre class="curl"><code>${curlOf('transact', options)}</code></pre>
<p>Read it:</p>
<pre class="curl"><code>${curlOf('get', options)}</code></pre>
<p>Hold the lock for half a minute:</p>
<pre class="curl"><code>${curlOf('acquire', options)}</code></pre>
<h2>Read on</h2>
<ul class="links">
<li><a href="${links.docs}">All calls, with examples</a></li>
<li><a href="${links.openapi}">OpenAPI</a></li>
<li><a href="${links.health}">Health</a></li>
<li><a href="${links.metrics}">Metrics</a></li>
</ul>
</main>`,
  )
}

/** Where they are, as far as somebody has said so. */
function placesOf(participants: HomeAnswer['participants']): string {
  const places = [...new Set(participants.flatMap(({ location }) => location ?? []))]
  return places.length === 0 ? '' : ` (in ${places.join(', ')})`
}

const KEY_HINTS: { readonly [type in KeySource['type']]: Html | '' } = {
  open: '',
  keys: html`<p>Put a key into <code>$BATON_KEY</code> first.</p>`,
  closed: html`<p>First make a key with <code>npx @baton-lock/baton key</code>. It prints the key, which goes into
<code>$BATON_KEY</code>, and its entry, which goes into the secret <code>BATON_KEYS</code> of this service.</p>`,
}

const KEYS: { readonly [type in KeySource['type']]: string } = {
  open: 'none needed',
  keys: 'asked for',
  closed: 'none yet: every call is refused',
}
