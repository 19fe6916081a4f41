/**
 * Runs a bundled Worker on the open runtime, one OS process for each call: used by `npm start`, `npm run
 * cluster`, the tests and the benchmarks. Storage is a folder that no other process uses; and a process ends
 * with whoever started it.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { atExit } from './at-exit.ts'
import { startToEndWithLauncher, type Waiting } from './leave-nobody.ts'
import { lockStorage } from './storage-lock.ts'

export const COMPATIBILITY_DATE = '2026-10-30'

export interface WorkerdOptions {
  readonly script: string
  /** Where the objects' storage lives; kept between runs. */
  readonly storage: string
  readonly port: number
  readonly variables: { readonly [name: string]: string }
  /** Durable Object classes by the name of their binding; the service has one. */
  readonly objects?: { readonly [binding: string]: string }
  /** What the Worker sends to one of these (`host:port`) goes to the other instead: a proxy in between. */
  readonly detours?: { readonly [address: string]: string }
  /** A folder of files for the binding `ASSETS`, such as the built page. */
  readonly assets?: string | undefined
  /**
   * A request says in this header, as JSON, where it comes from (`request.cf`). For tests: on the platform no
   * client can say that, and whoever can reach a port with this may say anything.
   */
  readonly cfHeader?: string
  /** Added to the environment of the process. */
  readonly environment?: { readonly [name: string]: string }
  /** What the process prints goes here, line by line. */
  readonly onOutput?: (line: string) => void
  /** For measurements: V8's inspector listens, and `gc()` is there. */
  readonly isInspected?: boolean
}

export interface RunningWorkerd {
  readonly url: string
  readonly port: number
  readonly process: ChildProcess
  /** Where V8's inspector listens, if it was asked for. */
  readonly inspectorPort: number | null
  stop(signal?: NodeJS.Signals): Promise<void>
}

export async function startWorkerd(options: WorkerdOptions): Promise<RunningWorkerd> {
  const storage = resolve(options.storage)
  const lock = await lockStorage(storage)
  const folder = mkdtempSync(join(tmpdir(), 'baton-'))
  let child: ChildProcess | undefined
  const forget = atExit(() => {
    child?.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const cleanUp = async () => {
    forget()
    lock.release()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const waiting = await prepare(folder, storage, options)
    child = waiting.child
    if (child.pid !== undefined) lock.holdFor(child.pid)
    waiting.begin()
    return await untilListening(child, cleanUp)
  } catch (error) {
    await cleanUp()
    throw error
  }
}

async function prepare(folder: string, storage: string, options: WorkerdOptions): Promise<Waiting> {
  await writeFile(join(folder, 'worker.js'), options.script)
  await writeFile(join(folder, 'config.capnp'), configuration(storage, options))
  const inspector = options.isInspected === true ? ['--inspector-addr=127.0.0.1:0'] : []
  const args = ['serve', join(folder, 'config.capnp'), '--control-fd=3', ...inspector]
  const waiting = await startToEndWithLauncher(executable(), args, {
    output: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...options.environment },
  })
  const { stdout, stderr } = waiting.child
  for (const stream of [stdout, stderr]) forEachLine(stream!, line => options.onOutput?.(line))
  return waiting
}

async function untilListening(child: ChildProcess, cleanUp: () => Promise<void>): Promise<RunningWorkerd> {
  const ended = once(child, 'exit').then(cleanUp)
  // One that could not be started says so below.
  ended.catch(() => {})
  const { port, inspectorPort } = await listening(child)
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    process: child,
    inspectorPort,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      await ended
    },
  }
}

/** Whoever uses the client or the library alone needs no runtime, so the package does not bring one. */
export class WorkerdMissing extends Error {
  constructor(cause: unknown) {
    super('the runtime workerd is not installed; `npm install --save-dev workerd` does it', { cause })
  }
}

/** The package has an executable for each platform, and says where it is. */
function executable(): string {
  try {
    return (createRequire(import.meta.url)('workerd') as { readonly default: string }).default
  } catch (error) {
    throw new WorkerdMissing(error)
  }
}

interface Ports {
  readonly port: number
  readonly inspectorPort: number | null
}

/** workerd says on its control channel when it listens, and where; of its inspector first. */
function listening(child: ChildProcess): Promise<Ports> {
  let inspectorPort: number | null = null
  return new Promise((resolve, reject) => {
    forEachLine(child.stdio[3] as Readable, line => {
      const { event, port } = JSON.parse(line) as { event: string; port?: number }
      if (event === 'listen-inspector') inspectorPort = port ?? null
      if (event === 'listen' && port !== undefined) resolve({ port, inspectorPort })
    })
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`workerd ended with status ${code} before it listened`)))
  })
}

function forEachLine(stream: Readable, onLine: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line !== '') onLine(line)
  })
}

const SERVICE_OBJECTS = { PARTICIPANT: 'BatonParticipant' }

function configuration(storage: string, options: WorkerdOptions): string {
  const { port, variables, objects = SERVICE_OBJECTS } = options
  const namespaces = Object.values(objects).map(
    name => `(className = ${text(name)}, uniqueKey = ${text(name)}, enableSql = true)`,
  )
  const bindings = [
    ...Object.entries(objects).map(
      ([name, type]) => `(name = ${text(name)}, durableObjectNamespace = ${text(type)})`,
    ),
    ...Object.entries({ ...addressOf(port), ...variables }).map(
      ([name, value]) => `(name = ${text(name)}, text = ${text(value)})`,
    ),
    ...(options.assets === undefined ? [] : ['(name = "ASSETS", service = "assets")']),
  ]
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  v8Flags = [${options.isInspected === true ? text('--expose-gc') : ''}],
  services = [
    (name = "main", worker = (
      modules = [(name = "worker.js", esModule = embed "worker.js")],
      compatibilityDate = "${COMPATIBILITY_DATE}",
      compatibilityFlags = ["enable_request_signal", "request_signal_passthrough"],
      durableObjectNamespaces = [${namespaces.join(', ')}],
      durableObjectStorage = (localDisk = "storage"),
      bindings = [${bindings.join(', ')}],
      globalOutbound = ${text(options.detours === undefined ? 'loopback' : 'detours')},
    )),${detourServices(options.detours ?? {})}
    (name = "storage", disk = (path = ${text(storage)}, writable = true)),${assetsService(options.assets)}
    (name = "loopback", network = (allow = ["local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (${cfOf(options)}), service = "main")],
);
`
}

const cfOf = ({ cfHeader }: WorkerdOptions): string =>
  cfHeader === undefined ? '' : `cfBlobHeader = ${text(cfHeader)}`

function assetsService(folder: string | undefined): string {
  return folder === undefined
    ? ''
    : `
    (name = "assets", disk = (path = ${text(resolve(folder))})),`
}

/**
 * What the others call a process that has a port of its own choice; requests to its participants are signed
 * for it.
 */
function addressOf(port: number): { readonly BATON_URL?: string } {
  return port === 0 ? {} : { BATON_URL: `http://127.0.0.1:${port}` }
}

/** The request keeps its address, also in its `Host`; only its connection goes elsewhere. */
const DETOUR = `export default {
  fetch(request, env) {
    const detour = env[new URL(request.url).host]
    return detour === undefined ? fetch(request) : detour.fetch(request)
  },
}`

function detourServices(detours: { readonly [address: string]: string }): string {
  const addresses = Object.entries(detours)
  if (addresses.length === 0) return ''
  const services = addresses.map(
    ([from, to]) => `(name = ${text(`to ${from}`)}, external = (address = ${text(to)}, http = ()))`,
  )
  const bindings = addresses.map(([from]) => `(name = ${text(from)}, service = ${text(`to ${from}`)})`)
  return `
    ${services.join(',\n    ')},
    (name = "detours", worker = (
      modules = [(name = "detours.js", esModule = ${text(DETOUR)})],
      compatibilityDate = "${COMPATIBILITY_DATE}",
      bindings = [${bindings.join(', ')}],
      globalOutbound = "loopback",
    )),`
}

const text = (value: string): string => JSON.stringify(value)
