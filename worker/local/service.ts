/** The whole service in one workerd process on loopback: what `npm start` and `baton start` start. */
import { isHarmless } from './harmless.ts'
import { builtPage } from './page-folder.ts'
import { serviceScript } from './service-script.ts'
import { variablesFrom } from './variables.ts'
import { type RunningWorkerd, startWorkerd } from './workerd.ts'

export interface ServiceOptions {
  /** 0 for any that is free. */
  readonly port: number
  /** The folder of its storage, which is kept. */
  readonly storage: string
  readonly onOutput: (line: string) => void
}

export const DEFAULT_PORT = 8787
export const DEFAULT_STORAGE = '.baton/start'

export interface RunningService extends RunningWorkerd {
  /** Whether it asks nobody for a key. */
  readonly isOpen: boolean
}

export async function startService(options: ServiceOptions): Promise<RunningService> {
  const variables = variablesFrom(process.env, options.onOutput)
  const script = await serviceScript()
  const onOutput = (line: string) => {
    if (!isHarmless(line)) options.onOutput(line)
  }
  const assets = await pageOrNone(onOutput)
  const running = await startWorkerd({ ...options, script, assets, variables, onOutput })
  return { ...running, isOpen: variables.BATON_OPEN === 'true' }
}

/** The service is worth starting without its page. */
export async function pageOrNone(onOutput: (line: string) => void): Promise<string | undefined> {
  try {
    return await builtPage()
  } catch (error) {
    onOutput(`There is no page at /, because it could not be built: ${(error as Error).message}`)
    return undefined
  }
}
