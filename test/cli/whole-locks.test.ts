/** What the command line does with whole locks: `locks`, `export`, `import` and `delete`. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_IMPORT_BYTES } from '../../cli/commands/import.ts'
import { API_LIMITS } from '../../shared/api/limits.ts'
import { useService } from '../service/harness.ts'
import { jsonLines, jsonOf, useBaton } from './baton.ts'

const service = useService()
const { run } = useBaton(() => service.url)
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-cli-locks-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('locks', () => {
  it('prints each lock, one on a line', async () => {
    for (const name of ['list:a', 'list:b', 'other']) await run(['put', name, 'n', '1'])
    await expect
      .poll(async () => (await run(['locks', '--prefix', 'list:'])).stdout, { timeout: 60_000 })
      .toBe('list:a\twme-2\t3\nlist:b\twme-2\t3\n')
    expect(jsonLines(await run(['locks', '--json', '--prefix', 'list:']))).toEqual(
      ['list:a', 'list:b'].map(lock => ({ lock, protocol: 'wme-2', participants: 3, generation: 1 })),
    )
    expect(jsonLines(await run(['locks', '--json', '--limit', '1']))).toHaveLength(1)
    expect(await run(['locks', '--prefix', 'nothing'])).toEqual({ code: 0, stdout: '', stderr: '' })
  })
})

describe('export and import', () => {
  it('make a copy that goes on, through a file or a pipe', async () => {
    const { name } = service.lock()
    const put = ['put', name, 'a', '"é"', '--op-id', 'first', '--json']
    const first = jsonOf(await run(put))
    const file = join(folder, 'lock.json')
    expect(await run(['export', name, '--output', file])).toEqual({
      code: 0,
      stdout: `${name} is saved in ${file}\n`,
      stderr: '',
    })
    expect((await stat(file)).mode & 0o077).toBe(0)
    const printed = await run(['export', name])
    expect(JSON.parse(printed.stdout)).toMatchObject({ format: 1, lock: name })

    expect(await run(['import', file, `${name}-copy`])).toEqual({
      code: 0,
      stdout: `${name}-copy is there, with everything that ${name} had\n`,
      stderr: '',
    })
    expect((await run(['get', `${name}-copy`, 'a'])).stdout).toBe('"é"\n')
    const again = jsonOf(await run(['put', `${name}-copy`, 'a', '"é"', '--op-id', 'first', '--json']))
    expect(again.sequence).toBe(first.sequence)
    const piped = await run(['import', '-', `${name}-piped`, '--json'], { input: printed.stdout })
    expect(jsonOf(piped)).toMatchObject({ lock: `${name}-piped`, protocol: 'wme-2' })
  })

  it('keep the name if none is given, and take none that is there', async () => {
    const { name } = service.lock()
    await run(['put', name, 'a', '1'])
    const file = join(folder, 'own.json')
    expect(jsonOf(await run(['export', name, '--output', file, '--json']))).toMatchObject({
      lock: name,
      file,
      bytes: (await stat(file)).size,
    })
    expect(await run(['import', file])).toMatchObject({ code: 1, stdout: '' })
    expect(await run(['delete', name])).toMatchObject({ code: 0 })
    expect(await run(['import', file])).toMatchObject({ code: 0 })
    expect((await run(['get', name, 'a'])).stdout).toBe('1\n')
  })

  it('leave a file that was there as it is if there is nothing to save', async () => {
    const file = join(folder, 'kept.json')
    await writeFile(file, 'kept')
    expect(await run(['export', 'nobody-used-it', '--output', file])).toMatchObject({ code: 1, stdout: '' })
    expect(await readFile(file, 'utf8')).toBe('kept')
    const { name } = service.lock()
    await run(['put', name, 'a', '1'])
    const nowhere = await run(['export', name, '--output', join(folder, 'none/file.json')])
    expect(nowhere.code).toBe(1)
    expect(nowhere.stderr).toContain('Cannot write')
  })

  it.each([
    ['not JSON', 'oops', "'FILE' is not JSON"],
    ['something else', '{"format": 2}', "That is not what 'baton export' prints"],
    ['a list', '[]', "That is not what 'baton export' prints"],
  ])('refuse %s', async (_, text, message) => {
    const file = join(folder, 'wrong.json')
    await writeFile(file, text)
    const { code, stdout, stderr } = await run(['import', file])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.replace(file, 'FILE')).toContain(message)
  })

  it('refuse a file that is not there, and a damaged one', async () => {
    expect(await run(['import', join(folder, 'missing.json')])).toMatchObject({ code: 2, stdout: '' })
    const damaged = JSON.stringify({ format: 1, lock: 'damaged', resource: 'key-value' })
    expect(await run(['import', '-'], { input: damaged })).toMatchObject({ code: 1, stdout: '' })
  })

  it('read as much as the service does', () => {
    expect(MAX_IMPORT_BYTES).toBe(API_LIMITS.importBytes)
  })
})

describe('delete', () => {
  it('deletes a lock that nobody holds, and any with --force', async () => {
    const { name } = service.lock()
    await run(['put', name, 'a', '1'])
    await run(['acquire', name, '--ttl', '5m', '--owner', 'me'])
    const busy = await run(['delete', name])
    expect(busy).toMatchObject({ code: 3, stdout: '' })
    expect(await run(['delete', name, '--force'])).toEqual({
      code: 0,
      stdout: `${name} is deleted\n`,
      stderr: '',
    })
    expect(await run(['get', name, 'a'])).toMatchObject({ code: 1 })
    expect(await run(['delete', name])).toMatchObject({ code: 1, stdout: '' })
    await run(['put', name, 'a', '2'])
    expect(jsonOf(await run(['delete', name, '--json']))).toEqual({ lock: name, deleted: true })
  })
})
