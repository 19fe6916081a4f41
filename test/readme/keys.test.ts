/**
 * docs/keys.md: the commands in it make a key that the service takes, and its tables are those of the code.
 */
import { describe, expect, it } from 'vitest'
import { VERBS } from '../../shared/api/routes.ts'
import { parseKeys } from '../../worker/router/keys.ts'
import { blocksOf, commandsOf, pageAt } from './markdown.ts'
import { runnable } from './registry.ts'
import { runCommands } from './shell.ts'

const { text } = pageAt('docs/keys.md')
const blocks = blocksOf(text)

describe('docs/keys.md', () => {
  it('makes an entry that the service understands, in brackets', async () => {
    const commands = blocks
      .filter(({ language }) => language === 'sh')
      .flatMap(commandsOf)
      .filter(({ command }) => /\bkey\b/.test(command))
    const ran = await runCommands(commands.map(({ command }) => runnable(command)))
    expect(ran).toHaveLength(1)
    const { status, output } = ran[0]!
    expect(status).toBe(0)
    const entry = /^entry +(.*)$/m.exec(output)![1]!
    expect(parseKeys(`[${entry}]`)).toMatchObject({
      type: 'keys',
      entries: [{ name: 'checkout', locks: ['orders', 'stock-*'], verbs: ['acquire', 'read'] }],
    })
    expect(parseKeys(entry).type).toBe('closed')
  })

  it('names every verb', () => {
    const named = [...text.matchAll(/^\| (`[a-z]+`(?:, `[a-z]+`)*) \| /gm)].flatMap(([, names]) =>
      names!.replaceAll('`', '').split(', '),
    )
    expect(named).toEqual(expect.arrayContaining([...VERBS]))
  })
})
