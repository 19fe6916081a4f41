/** The Chromium of this machine, if it has one, driven by the DevTools Protocol. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'

export const CHROMIUM = [
  process.env.CHROMIUM_PATH ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
].find(existsSync)

export const NO_CHROMIUM = 'no Chromium here; CHROMIUM_PATH can name one'

export const chromiumFlags = (profile: string): string[] => [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--hide-scrollbars',
  `--user-data-dir=${profile}`,
]

export interface View {
  readonly width: number
  readonly colours: 'light' | 'dark'
}

export interface Opened {
  /** What the browser's console says: errors, warnings, and what the page's policy refused. */
  readonly complaints: readonly string[]
  readonly evaluate: <Value>(expression: string) => Promise<Value>
  /** The whole page as a PNG. */
  readonly screenshot: () => Promise<Buffer>
}

interface Message {
  readonly id?: number
  readonly sessionId?: string
  readonly method?: string
  readonly params?: { readonly [name: string]: unknown }
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

type Listener = (message: Message) => void

export class Browser implements AsyncDisposable {
  readonly #profile = mkdtempSync(join(tmpdir(), 'baton-chromium-'))
  readonly #process: ChildProcess
  readonly #waiting = new Map<number, Listener>()
  readonly #listeners = new Set<Listener>()
  #lastId = 0

  constructor() {
    if (CHROMIUM === undefined) throw new Error(NO_CHROMIUM)
    // The browser reads commands from its file descriptor 3 and writes what happens to 4.
    this.#process = spawn(CHROMIUM, [...chromiumFlags(this.#profile), '--remote-debugging-pipe'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    })
    let unread = ''
    const output = this.#process.stdio[4] as Readable
    output.setEncoding('utf8').on('data', (text: string) => {
      const messages = (unread + text).split('\0')
      unread = messages.pop()!
      for (const message of messages) this.#receive(JSON.parse(message) as Message)
    })
  }

  async open(url: string, { width, colours }: View): Promise<Opened> {
    const { targetId } = await this.#send<{ targetId: string }>('Target.createTarget', { url: 'about:blank' })
    const attach = { targetId, flatten: true }
    const { sessionId } = await this.#send<{ sessionId: string }>('Target.attachToTarget', attach)
    const send = <Result>(method: string, params: object = {}) =>
      this.#send<Result>(method, params, sessionId)

    const complaints: string[] = []
    const loaded = new Promise<void>(resolve => {
      this.#listeners.add(message => {
        if (message.sessionId !== sessionId) return
        if (message.method === 'Page.loadEventFired') resolve()
        const complaint = complaintIn(message)
        if (complaint !== undefined) complaints.push(complaint)
      })
    })
    for (const domain of ['Page', 'Log', 'Runtime']) await send(`${domain}.enable`)
    const screen = { width, height: 900, deviceScaleFactor: 1, mobile: width < 600 }
    await send('Emulation.setDeviceMetricsOverride', screen)
    const features = [{ name: 'prefers-color-scheme', value: colours }]
    await send('Emulation.setEmulatedMedia', { features })
    const { errorText } = await send<{ errorText?: string }>('Page.navigate', { url })
    if (errorText !== undefined) throw new Error(`${url}: ${errorText}`)
    await loaded

    const evaluate = async <Value>(expression: string): Promise<Value> => {
      const { result, exceptionDetails } = await send<Evaluated<Value>>('Runtime.evaluate', {
        expression,
        returnByValue: true,
        awaitPromise: true,
      })
      if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception.description)
      return result.value
    }
    const screenshot = async () => {
      const whole = { format: 'png', captureBeyondViewport: true }
      const { data } = await send<{ data: string }>('Page.captureScreenshot', whole)
      return Buffer.from(data, 'base64')
    }
    return { complaints, evaluate, screenshot }
  }

  /** The browser ends by itself, and its processes with it: killed, they would still write to the profile. */
  async [Symbol.asyncDispose](): Promise<void> {
    const isOver = this.#process.exitCode !== null || this.#process.signalCode !== null
    if (!isOver) {
      const exited = once(this.#process, 'exit')
      void this.#send('Browser.close', {})
      await exited
    }
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 10 })
  }

  #send<Result>(method: string, params: object, sessionId?: string): Promise<Result> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) => {
        if (error === undefined) resolve(result as Result)
        else reject(new Error(`${method}: ${error.message}`))
      })
      const input = this.#process.stdio[3] as Writable
      input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    })
  }

  #receive(message: Message): void {
    if (message.id === undefined) for (const listener of this.#listeners) listener(message)
    else {
      this.#waiting.get(message.id)?.(message)
      this.#waiting.delete(message.id)
    }
  }
}

interface Evaluated<Value> {
  readonly result: { readonly value: Value }
  readonly exceptionDetails?: { readonly exception: { readonly description: string } }
}

function complaintIn({ method, params }: Message): string | undefined {
  if (method === 'Log.entryAdded') {
    const { level, text, url } = params!.entry as { level: string; text: string; url?: string }
    return level === 'error' || level === 'warning' ? `${level}: ${text} ${url ?? ''}` : undefined
  }
  if (method === 'Runtime.exceptionThrown') return `exception: ${JSON.stringify(params!.exceptionDetails)}`
  if (method === 'Runtime.consoleAPICalled') return `console: ${JSON.stringify(params!.args)}`
  return undefined
}
