/** Whether the service runs. It asks for no key. */
import { errorFromAnswer, networkError } from '../client/error-factory.ts'
import type { Settings } from './settings.ts'

const LIMIT_MS = 10_000

export async function healthOf({ url }: Settings, signal: AbortSignal): Promise<{ readonly status: string }> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)])
  let response: Response
  let text: string
  try {
    response = await fetch(`${url.value}/healthz`, { signal: limited })
    text = await response.text()
  } catch (error) {
    throw networkError(error)
  }
  const body = parse(text)
  if (!response.ok || typeof body?.status !== 'string') {
    throw errorFromAnswer(response.status, response.headers, undefined)
  }
  return body as { readonly status: string }
}

function parse(text: string): { readonly status?: unknown } | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
