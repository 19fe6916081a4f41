/** The whole service in one workerd process on loopback: what `npm start` and `baton start` start. */
import { isHarmless } from './harmless.ts'
import { builtPage } from './page-folder.ts'
import { serviceScript } from './service-script.ts'
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

export async function startService(options: ServiceOptions): Promise<RunningWorkerd> {
  const script = await serviceScript()
  const onOutput = (line: string) => {
    if (!isHarmless(line)) options.onOutput(line)
  }
  const assets = await pageOrNone(onOutput)
  const { BATON_CORS_ORIGINS } = process.env
  const variables = { BATON_OPEN: 'true', ...(BATON_CORS_ORIGINS ? { BATON_CORS_ORIGINS } : {}) }
  return startWorkerd({ ...options, script, assets, variables, onOutput })
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
