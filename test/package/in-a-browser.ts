/** The client in a page, bundled by vite, in a Chromium that asks a service of this machine. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { expect, it } from 'vitest'
import { CHROMIUM, chromiumFlags, NO_CHROMIUM } from '../chromium.ts'
import { NAME, type Packed, succeed } from './project.ts'

/**
 * What the page says when it is done. It waits for nothing else, so a browser that cannot report fails the
 * test by its limit.
 */
interface Report {
  readonly sold?: number
  readonly seen?: number
  readonly error?: string
}

const PAGE = `import { createBaton } from '${NAME}/client'
const report = async () => {
  const lock = createBaton({ url: new URLSearchParams(location.search).get('service') }).lock('page')
  await lock.configure({})
  const watched = (async () => {
    for await (const event of lock.watch()) if (event.type === 'op') return event.changes[0].value
  })()
  const sold = await lock.run(async held => (await held.apply([{ increment: 'sold' }])).results[0].value)
  return { sold, seen: await watched }
}
const said = await report().catch(error => ({ error: String(error.stack ?? error) }))
await fetch('/report', { method: 'POST', body: JSON.stringify(said) })
`

const TYPES: { readonly [extension: string]: string } = { '.html': 'text/html', '.js': 'text/javascript' }

export function itWorksInABrowser(packed: () => Packed, serviceUrl: () => string): void {
  it('is bundled by vite, and holds a lock from a page', async context => {
    const project = packed().project('page')
    project.write('index.html', '<!doctype html><script type="module" src="/page.js"></script>')
    project.write('page.js', PAGE)
    succeed(project.tool('vite/bin/vite.js', 'build', '--target', 'esnext'))
    if (CHROMIUM === undefined) return context.skip(`${NO_CHROMIUM}: the bundle was made, and not run`)

    const { server, reported } = await serve(join(project.folder, 'dist'))
    const { port } = server.address() as AddressInfo
    const page = `http://127.0.0.1:${port}/?service=${encodeURIComponent(serviceUrl())}`
    const browser = browse(page, join(project.folder, 'profile'))
    try {
      expect(await reported).toEqual({ sold: 1, seen: 1 })
    } finally {
      browser.kill('SIGKILL')
      await once(browser, 'exit')
      server.close()
    }
  })
}

function browse(page: string, profile: string): ChildProcess {
  return spawn(CHROMIUM!, [...chromiumFlags(profile), page], { stdio: 'ignore' })
}

async function serve(
  folder: string,
): Promise<{ readonly server: Server; readonly reported: Promise<Report> }> {
  let report!: (report: Report) => void
  const reported = new Promise<Report>(resolve => {
    report = resolve
  })
  const server = createServer(async (request, response) => {
    const path = new URL(request.url!, 'http://page').pathname
    if (path === '/report') {
      let text = ''
      for await (const chunk of request) text += chunk
      response.end()
      report(JSON.parse(text) as Report)
      return
    }
    const file = join(folder, path === '/' ? 'index.html' : path)
    if (!existsSync(file)) return void response.writeHead(404).end()
    response.setHeader('content-type', TYPES[extname(file)] ?? 'application/octet-stream')
    response.end(readFileSync(file))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { server, reported }
}
