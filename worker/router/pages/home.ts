/** What a browser finds at the root: how the service is, three lines to try, and where to read on. */
import { html, raw } from 'hono/html'
import type { HomeAnswer } from '../../../shared/api/types.ts'
import type { KeySource } from '../keys.ts'
import { type CurlOptions, curlOf } from './curl.ts'
import type { Html } from './schema.ts'
import { PAGE_STYLE } from './style.ts'

export interface HomeOptions extends CurlOptions {
  /** What the Content-Security-Policy of the response allows a style with. */
  readonly nonce: string
  readonly keys: KeySource['type']
}

export function renderHome(about: HomeAnswer, options: HomeOptions): Html {
  const { version, protocol, participants, ledger, links } = about
  const isWell = ledger === undefined || (ledger.healed && ledger.unfinishedLocks === 0)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Baton</title>
<style nonce="${options.nonce}">${raw(PAGE_STYLE)}</style>
</head>
<body class="home">
<header>
<h1>Baton</h1>
<p>A named lock together with the state it guards, replicated on Durable Objects in several regions.</p>
</header>
<main>
<dl class="state">
<div><dt>Health</dt><dd class="${isWell ? 'good' : 'bad'}">${isWell ? 'ok' : 'recovering'}</dd></div>
<div><dt>API version</dt><dd>${version}</dd></div>
<div><dt>Participants</dt><dd>${participants.length}</dd></div>
<div><dt>Keys</dt><dd class="${options.keys === 'closed' ? 'bad' : ''}">${KEYS[options.keys]}</dd></div>
</dl>
${isWell ? '' : html`<p>This process is being given back what it lost: ${ledger!.unfinishedLocks} locks are not finished.</p>`}
<p>A new lock has ${participants.length} participants${placesOf(participants)}, which agree by <code>${protocol}</code>, unless it is configured otherwise.</p>
<h2>Try it</h2>
${options.keys === 'open' ? '' : html`<p>Put a key into <code>$BATON_KEY</code> first.</p>`}
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
</main>
</body>
</html>`
}

/** Where they are, as far as somebody has said so. */
function placesOf(participants: HomeAnswer['participants']): string {
  const places = [...new Set(participants.flatMap(({ location }) => location ?? []))]
  return places.length === 0 ? '' : ` (in ${places.join(', ')})`
}

const KEYS: { readonly [type in KeySource['type']]: string } = {
  open: 'none needed',
  keys: 'asked for',
  closed: 'none yet: every call is refused',
}
