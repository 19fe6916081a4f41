/** The example of a call as a line for a shell. A test runs these lines against the service. */
import { EXAMPLES } from '../../../shared/api/examples.ts'
import { ROUTES, type Route, type RouteId } from '../../../shared/api/routes.ts'

export interface CurlOptions {
  /** Where the service is, as the reader of the page has found it. */
  readonly url: string
  /** Whether the service asks for a key. */
  readonly hasKeys: boolean
}

/** Show what stays open as it comes; and the head of an answer that has nothing else. */
const FLAGS: { readonly [id in RouteId]?: string } = {
  watch: '-sN',
  session: '-si --http1.1',
  release: '-si',
  withdraw: '-si',
}

export function curlOf(id: RouteId, { url, hasKeys }: CurlOptions): string {
  const { method, path, verb }: Route = ROUTES[id]
  const { parameters = {}, query = {}, body, headers = {} } = EXAMPLES[id]
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => parameters[name]!)
  const search = new URLSearchParams(query).toString()
  const address = `${url}${filled}${search === '' ? '' : `?${search}`}`
  const parts = ['curl', FLAGS[id] ?? '-s']
  if (method !== 'get') parts.push('-X', method.toUpperCase())
  parts.push(/[$?&]/.test(address) ? `"${address}"` : address)
  if (hasKeys && verb !== null) parts.push('-H "authorization: Bearer $BATON_KEY"')
  for (const [name, value] of Object.entries(headers)) parts.push(`-H '${name}: ${value}'`)
  if (body !== undefined) parts.push("-H 'content-type: application/json'", `-d '${JSON.stringify(body)}'`)
  return parts.join(' ')
}
