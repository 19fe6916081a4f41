/** Runs commands of the documentation with bash, one after the other in one shell, so that variables stay. */
import { spawn } from 'node:child_process'
import { ROOT } from './markdown.ts'

export interface Ran {
  readonly command: string
  readonly status: number
  readonly output: string
  readonly errors: string
}

export async function runCommands(
  commands: readonly string[],
  environment: { readonly [name: string]: string } = {},
): Promise<Ran[]> {
  const shell = spawn('bash', ['-c', scriptOf(commands)], {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors] = await Promise.all([read(shell.stdout), read(shell.stderr)])
  const [outputs, errorOutputs] = [output.split(MARK), errors.split(MARK)]
  return commands.map((command, index) => {
    const [text = '', status = '1'] = (outputs[index] ?? '').split(STATUS)
    return { command, status: Number(status), output: text, errors: errorOutputs[index] ?? '' }
  })
}

const MARK = '\u0001end\u0001'
const STATUS = '\u0001status\u0001'

const scriptOf = (commands: readonly string[]): string =>
  commands
    .map(command => `${command}\nprintf '%s' '${STATUS}'"$?"'${MARK}'; printf '%s' '${MARK}' >&2\n`)
    .join('')

async function read(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
