/** The dependencies are installed when they are missing, and what was installed by hand is left alone. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ROOT } from './wrangler.ts'

const NO_NPM = 'npm was called'
const lockfile = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-install-'))
  cpSync(join(ROOT, 'scripts'), join(folder, 'scripts'), { recursive: true })
  cpSync(join(ROOT, 'package-lock.json'), join(folder, 'package-lock.json'))
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin/npm'), `#!/bin/sh\necho '${NO_NPM}' >&2\nexit 3\n`, { mode: 0o755 })
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** As npm writes it, whoever called it. */
function installed(packages: object): void {
  mkdirSync(join(folder, 'node_modules'))
  writeFileSync(join(folder, 'node_modules/.package-lock.json'), JSON.stringify({ packages }))
}

function install() {
  const { PATH } = process.env
  const env = { PATH: `${join(folder, 'bin')}:${PATH}` }
  const { status, stderr } = spawnSync(process.execPath, ['scripts/install.mjs'], {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  return { status, calledNpm: stderr.includes(NO_NPM) }
}

it('nothing is there', () => {
  expect(install()).toEqual({ status: 3, calledNpm: true })
})

it('everything is there but what is for other platforms', () => {
  const needed = Object.entries<{ optional?: boolean }>(lockfile.packages).filter(
    ([, { optional }]) => !optional,
  )
  expect(needed.length).toBeGreaterThan(30)
  installed(Object.fromEntries(needed))
  expect(install()).toEqual({ status: 0, calledNpm: false })
})

it('a package is missing', () => {
  const { 'node_modules/hono': _, ...rest } = lockfile.packages
  installed(rest)
  expect(install().calledNpm).toBe(true)
})

it('a package has another version', () => {
  installed({ ...lockfile.packages, 'node_modules/hono': { version: '4.0.0' } })
  expect(install().calledNpm).toBe(true)
})
