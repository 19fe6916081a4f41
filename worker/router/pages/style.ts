/** How the pages look, in light and in dark, on a desk and on a phone. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1c2128, #e2e6ea); --soft: light-dark(#555e68, #a3adb7);
  --paper: light-dark(#fdfdfc, #15181c); --panel: light-dark(#f4f5f3, #1d2227); --line: light-dark(#dcdfdc, #31383f);
  --accent: light-dark(#0b6b58, #5fd0b5); --good: light-dark(#0b6b58, #5fd0b5); --bad: light-dark(#a33a2a, #f09a88);
  --change: light-dark(#7a5200, #e8bd63); --code: light-dark(#e9ebe8, #272d34);
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 2rem 1.25rem 6rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif; overflow-wrap: break-word }
h1 { margin: 0; font-size: 2.1rem; line-height: 1.2; letter-spacing: -0.02em }
h2 { margin: 2.5rem 0 .25rem; font-size: 1.45rem; line-height: 1.3; scroll-margin-top: 1rem }
h3 { margin: 0 0 .25rem; font-size: 1rem; line-height: 1.4 }
h4 { margin: 1rem 0 .25rem; font-size: .8rem; letter-spacing: .04em; text-transform: uppercase; color: var(--soft) }
p { margin: .35rem 0; max-width: 46rem; color: var(--soft) }
p.summary { color: var(--ink) }
a { color: var(--accent); text-decoration: none }
a:hover { text-decoration: underline }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
code, pre { font: .86em/1.5 var(--mono); overflow-wrap: anywhere }
pre code { font-size: 1em }
p code, td code, .tag { background: var(--code); border-radius: .25rem; padding: .05em .3em }
td code.name { background: none; padding: 0; font-weight: 600 }
pre { margin: .6rem 0 0; padding: .7rem .85rem; white-space: pre-wrap; background: var(--code); border-radius: .4rem }
pre.curl::before { content: '$ '; color: var(--soft) }
pre.answer { background: none; border: 1px solid var(--line); color: var(--soft); max-height: 22rem; overflow: auto }
pre.answer b { color: var(--good) }
section { padding: 1.1rem 1.25rem; margin: 1rem 0 0; background: var(--panel); border: 1px solid var(--line);
  border-radius: .6rem; scroll-margin-top: 1rem }
section:target { border-color: var(--accent) }
table { width: 100%; border-collapse: collapse; font-size: .9rem; margin-top: .75rem }
th { text-align: left; font-weight: 600; color: var(--soft) }
th, td { padding: .35rem .9rem .35rem 0; border-top: 1px solid var(--line); vertical-align: top }
thead th { border-top: 0 }
td:last-child { padding-right: 0 }
table.fields td:first-child { width: 22% } table.fields td:nth-child(2) { width: 30% }
table.answers td:first-child { width: 4rem }
small { color: var(--soft) }
p.refusals, p.variant { font-size: .88rem; max-width: none }
tr:target td { background: var(--code) }
b.get, b.put, b.post, b.delete { font: 700 .72em/1 var(--mono); text-transform: uppercase; color: var(--good);
  display: inline-block; min-width: 3.6em }
b.delete { color: var(--bad) } b.post, b.put { color: var(--change) }
body.docs { max-width: 78rem }
nav h2 { margin: 1rem 0 .2rem; font-size: .85rem } nav h2 a { color: inherit }
nav ul { list-style: none; margin: 0; padding: 0; font: .78rem/1.75 var(--mono) }
nav a { color: inherit; overflow-wrap: anywhere }
body.home { max-width: 46rem }
.state { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; margin: 1.25rem 0; padding: 0 }
body.home pre { margin-bottom: 1rem }
.state div { padding: .7rem .85rem; background: var(--panel); border: 1px solid var(--line); border-radius: .5rem }
.state dt { font-size: .8rem; color: var(--soft) } .state dd { margin: 0; font-weight: 600 }
.good { color: var(--good) } .bad { color: var(--bad) }
.links { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; list-style: none; margin: 1.5rem 0 0; padding: 0 }
@media (max-width: 40rem) {
  body { padding: 1.25rem 1rem 4rem }
  section { padding: .9rem .85rem }
  table.fields tr, table.limits tr, table.problems tr { display: block; padding: .4rem 0; border-top: 1px solid var(--line) }
  table.fields td, table.limits td, table.problems td { display: block; width: auto !important; border: 0; padding: .05rem 0 }
  table.problems td:first-child { display: inline-block; padding-right: .5rem } table.problems td:nth-child(2) { display: inline-block }
  thead { display: none }
}
@media (min-width: 64rem) {
  body.docs { display: grid; grid-template-columns: 21rem minmax(0, 1fr); gap: 0 3rem }
  body.docs header { grid-column: 1 / -1 }
  body.docs nav { position: sticky; top: 1.5rem; align-self: start; max-height: calc(100vh - 3rem); overflow: auto }
}
`
