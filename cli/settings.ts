/**
 * Where the service is, and which key to use. The command line counts for more than the environment, and that
 * for more than the file. A key in the file is for the address in the file: it is never sent anywhere else.
 */
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from './arguments.ts'

export const DEFAULT_URL = 'http://127.0.0.1:8787'

export type Environment = { readonly [name: string]: string | undefined }

/** What the command line says. */
export interface GivenSettings {
  readonly url?: string | undefined
  readonly key?: string | undefined
  readonly config?: string | undefined
}

export interface Sourced<Value> {
  readonly value: Value
  /** In words, for messages: `--url`, `BATON_URL`, the path of the file, or `the default`. */
  readonly source: string
}

export interface Settings {
  readonly url: Sourced<string>
  readonly key: Sourced<string> | null
  readonly file: { readonly path: string; readonly exists: boolean }
  /** What should be told to the user, though it is no reason to stop. */
  readonly warnings: readonly string[]
}

export function readSettings(given: GivenSettings, environment: Environment): Settings {
  const path = given.config ?? (environment.BATON_CONFIG || defaultPath(environment))
  const isChosen = given.config !== undefined || Boolean(environment.BATON_CONFIG)
  const file = readFile(path, isChosen)
  const url = urlOf(given, environment, file, path)
  const key = keyOf(given, environment, file, path, url.value)
  return {
    url,
    key,
    file: { path, exists: file !== null },
    warnings: [
      ...(file?.key !== undefined && isOpenToOthers(path)
        ? [`${path} holds a key, and other users of this machine can read it: chmod 600 ${path}`]
        : []),
      ...(key !== null && isReadableOnTheWay(url.value)
        ? [`the key is sent without encryption to ${url.value}: use https`]
        : []),
    ],
  }
}

function urlOf(
  given: GivenSettings,
  environment: Environment,
  file: File | null,
  path: string,
): Sourced<string> {
  const found: Sourced<string> =
    given.url !== undefined
      ? { value: given.url, source: '--url' }
      : environment.BATON_URL
        ? { value: environment.BATON_URL, source: 'BATON_URL' }
        : file?.url !== undefined
          ? { value: file.url, source: path }
          : { value: DEFAULT_URL, source: 'the default' }
  return { ...found, value: checkedUrl(found) }
}

function checkedUrl({ value, source }: Sourced<string>): string {
  const url = URL.canParse(value) ? new URL(value) : null
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`the address '${value}' (from ${source}) is not one like https://baton.example.com`)
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError(
      `the address from ${source} may have no user, no '?' and no '#'; a key goes into --key or BATON_KEY`,
    )
  }
  return url.href.replace(/\/+$/, '')
}

function keyOf(
  given: GivenSettings,
  environment: Environment,
  file: File | null,
  path: string,
  url: string,
): Sourced<string> | null {
  if (given.key !== undefined) return { value: given.key, source: '--key' }
  if (environment.BATON_KEY) return { value: environment.BATON_KEY, source: 'BATON_KEY' }
  if (file?.key === undefined || file.url === undefined) return null
  return checkedUrl({ value: file.url, source: path }) === url ? { value: file.key, source: path } : null
}

/** Where programs of a user keep their settings, on each system. */
export function defaultPath(environment: Environment, platform: string = process.platform): string {
  if (platform === 'win32' && environment.APPDATA) return join(environment.APPDATA, 'baton', 'config.json')
  return join(environment.XDG_CONFIG_HOME || join(homedir(), '.config'), 'baton', 'config.json')
}

interface File {
  readonly url?: string
  readonly key?: string
}

function readFile(path: string, mustExist: boolean): File | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (!mustExist && (code === 'ENOENT' || code === 'ENOTDIR')) return null
    throw new UsageError(code === 'ENOENT' ? `there is no file ${path}` : message)
  }
  return checkedFile(text, path)
}

function checkedFile(text: string, path: string): File {
  const shape = `${path} is not settings: it should be {"url": "https://…", "key": "baton_…"}`
  let file: unknown
  try {
    file = JSON.parse(text)
  } catch {
    throw new UsageError(shape)
  }
  if (typeof file !== 'object' || file === null || Array.isArray(file)) throw new UsageError(shape)
  for (const [name, value] of Object.entries(file)) {
    if (name !== 'url' && name !== 'key') throw new UsageError(`${shape}; it has '${name}'`)
    if (typeof value !== 'string') throw new UsageError(`${shape}; its '${name}' is no text`)
  }
  const settings = file as File
  if (settings.key !== undefined && settings.url === undefined) {
    throw new UsageError(`${path} has a key without the url that it is for`)
  }
  return settings
}

function isOpenToOthers(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0
}

/** Everything but https, and but what stays on this machine. */
function isReadableOnTheWay(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
}
