/**
 * A Worker of one's own, as docs/library.md writes it: with strict types, bundled by wrangler, and run by
 * Miniflare.
 */
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { expect, it } from 'vitest'
import { COMPATIBILITY_DATE } from '../../worker/local/workerd.ts'
import { blocksOf, commandsOf, pageAt } from '../readme/markdown.ts'
import { type Packed, type Project, STRICT, succeed } from './project.ts'

function blockOfLibrary(language: string, part: string): string {
  const blocks = blocksOf(pageAt('docs/library.md').text)
  const found = blocks.filter(block => block.language === language && block.text.includes(part))
  if (found.length !== 1) throw new Error(`docs/library.md has ${found.length} blocks with ${part}`)
  return `${found[0]!.text}\n`
}

const WRANGLER = 'wrangler/wrangler-dist/cli.js'

/** Below the path of the API, from the assets of the package. */
async function hasThePage(url: string): Promise<void> {
  const html = await (await fetch(new URL('/locks-api/', url), { headers: { accept: 'text/html' } })).text()
  const [, script] = /<script[^>]* src="(\/locks-api\/assets\/[^"]+\.js)"/.exec(html) ?? []
  const file = await fetch(new URL(script ?? '/locks-api/assets/none.js', url))
  expect([file.status, file.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
  expect((await file.text()).length).toBeGreaterThan(10_000)
}

/** `wrangler dev`, and what the page says that one is answered then, at a port of the test's own. */
async function answersAsDocumented(project: Project): Promise<void> {
  const [start, call] = commandsOf({ language: 'sh', text: blockOfLibrary('sh', 'wrangler dev'), line: 1 })
  const words = start!.command.split(' ')
  expect(words.slice(0, 3)).toEqual(['npx', 'wrangler', 'dev'])
  const running = project.startTool(WRANGLER, ...words.slice(2).map(word => (word === '8787' ? '0' : word)))
  try {
    const url = await running.printed(/Ready on (http:\S+)/)
    const [, path] = /^curl -s 'http:\/\/127\.0\.0\.1:8787(\/[^']*)'$/.exec(call!.command)!
    for (const _ of ['once', 'again']) {
      const response = await fetch(new URL(path!, url))
      expect(await response.json()).toEqual(call!.answer)
    }
    await hasThePage(url)
  } finally {
    await running.end()
  }
}

export function itWorksInAWorker(packed: () => Packed): void {
  it('compiles with strict settings, is bundled by wrangler and serves its locks', async () => {
    const project = packed().project('worker', ['@cloudflare/workers-types'])
    project.write('account.ts', blockOfLibrary('ts', 'defineResource<AccountOp>'))
    project.write('worker.ts', blockOfLibrary('ts', 'defineBaton({'))
    const own = { allowImportingTsExtensions: true, types: ['@cloudflare/workers-types'] }
    project.write('tsconfig.json', { compilerOptions: { ...STRICT, ...own }, files: ['worker.ts'] })
    expect(project.compile('tsconfig.json')).toEqual({ status: 0, output: '', errors: '' })

    const configuration = blockOfLibrary('toml', 'new_sqlite_classes')
    expect(configuration).toContain(`compatibility_date = "${COMPATIBILITY_DATE}"`)
    project.write('wrangler.toml', `${configuration}\n${blockOfLibrary('toml', '[assets]')}`)
    succeed(project.tool(WRANGLER, 'deploy', '--dry-run', '--outdir', 'out'))
    await answersAsDocumented(project)

    const miniflare = new Miniflare(
      convertV4MiniflareOptions({
        modules: true,
        script: project.read('out/worker.js'),
        compatibilityDate: COMPATIBILITY_DATE,
        compatibilityFlags: ['enable_request_signal', 'request_signal_passthrough'],
        durableObjects: { PARTICIPANT: { className: 'BatonParticipant', useSQLite: true } },
        cf: false,
      }),
    )
    try {
      const bonus = async () => (await miniflare.dispatchFetch('http://shop/bonus?customer=ann')).json()
      expect([await bonus(), await bonus()]).toEqual([{ balance: 500 }, { balance: 500 }])
      expect((await miniflare.dispatchFetch('http://shop/locks-api/healthz')).status).toBe(200)
    } finally {
      await miniflare.dispose()
    }
  })
}
