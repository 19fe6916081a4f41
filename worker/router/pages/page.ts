/** What all pages have in common: the head, with everything that a browser would otherwise ask for. */
import { html, raw } from 'hono/html'
import type { Html } from './schema.ts'
import { PAGE_STYLE } from './style.ts'

export interface PageOptions {
  /** What the Content-Security-Policy of the response allows a style with. */
  readonly nonce: string
}

const BATON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<path d="M6 26 26 6" stroke="#0b8a70" stroke-width="8" stroke-linecap="round"/>
</svg>`

/** Without an icon in the page, browsers ask for /favicon.ico, which is not there. */
const ICON = `data:image/svg+xml,${encodeURIComponent(BATON)}`

export function renderPage(title: string, kind: 'home' | 'docs', { nonce }: PageOptions, body: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<style nonce="${nonce}">${raw(PAGE_STYLE)}</style>
</head>
<body class="${kind}">
${body}
</body>
</html>`
}
