/** How the human page looks, in light and in dark. */
export const DOCS_STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1c2128, #e2e6ea); --soft: light-dark(#5d6670, #9aa4ae);
  --paper: light-dark(#fdfdfc, #15181c); --panel: light-dark(#f3f4f2, #1e2329); --line: light-dark(#dcdfdc, #31383f);
  --accent: light-dark(#0b6b58, #5fd0b5); }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 78rem; padding: 2rem 1.25rem 6rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif; display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 3rem }
header { grid-column: 1 / -1 }
h1 { margin: 0; font-size: 2.25rem; letter-spacing: -0.02em }
h2 { margin: 0 0 .25rem; font-size: 1.1rem; line-height: 1.35 }
main > h2 { margin-top: 3rem; font-size: 1.5rem }
h3 { margin: 0 0 .25rem; font-size: 1rem }
a { color: var(--accent); text-decoration: none }
a:hover { text-decoration: underline }
code, pre { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere }
pre { margin: 0; white-space: pre-wrap }
nav ul { list-style: none; margin: 0 0 2rem; padding: 0; font: .8rem/1.9 ui-monospace, Menlo, Consolas, monospace }
nav a { color: inherit }
section { padding: 1.1rem 1.25rem; margin: 0 0 1rem; background: var(--panel); border: 1px solid var(--line);
  border-radius: .6rem; scroll-margin-top: 1rem }
section:target { border-color: var(--accent) }
table { width: 100%; border-collapse: collapse; font-size: .9rem; margin-top: .75rem }
td { padding: .3rem .75rem .3rem 0; border-top: 1px solid var(--line); vertical-align: top }
td code { overflow-wrap: normal }
tr:target { background: var(--panel) }
p { margin: .25rem 0; color: var(--soft) }
b.get, b.put, b.post, b.delete { font: 700 .72em/1 ui-monospace, Menlo, Consolas, monospace; text-transform: uppercase;
  color: var(--accent); display: inline-block; min-width: 3.6em }
b.delete { color: light-dark(#a33a2a, #f09a88) }
b.post, b.put { color: light-dark(#7a5200, #e8bd63) }
@media (min-width: 64rem) {
  body { grid-template-columns: 21rem minmax(0, 1fr) }
  nav { position: sticky; top: 1.5rem; align-self: start; max-height: calc(100vh - 3rem); overflow: auto }
}
`
