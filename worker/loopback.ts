/** The names of this very machine. */
const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])$/

/** A host as the URL of a request has it. */
export const isLoopbackHost = (host: string): boolean => LOOPBACK.test(host)

/** The origin of a page, on any port. `null`, which sandboxed pages have, is not one. */
export const isLoopbackOrigin = (origin: string): boolean =>
  URL.canParse(origin) && isLoopbackHost(new URL(origin).hostname)
