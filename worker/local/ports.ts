/** Ports of this machine: which are free, and which a cluster has had before. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { dirname } from 'node:path'

/** 0 stands for any. */
export const isPort = (number: number): boolean => Number.isInteger(number) && number >= 0 && number <= 65_535

async function listenOn(port: number): Promise<Server | null> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null)
      else reject(error)
    })
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

const close = (server: Server): Promise<void> => new Promise(resolve => server.close(() => resolve()))

export async function isFree(port: number): Promise<boolean> {
  const server = await listenOn(port)
  if (server === null) return false
  await close(server)
  return true
}

/** A process that is being ended has its port for a moment longer. */
async function isSoonFree(port: number): Promise<boolean> {
  for (let attempt = 0; attempt < 30; attempt++) {
    if (await isFree(port)) return true
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  return false
}

/** The first free one from here on. */
export async function freePortFrom(port: number): Promise<number> {
  for (let next = port; next < port + 100; next++) if (await isFree(next)) return next
  throw new Error(`none of the ports from ${port} on is free`)
}

/** Ports that were free a moment ago: each process must know the others' before they run. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listenOn(0)))
  const ports = servers.map(server => (server!.address() as { readonly port: number }).port)
  await Promise.all(servers.map(server => close(server!)))
  return ports
}

/** Locks remember where their participants are: those that have run with this storage keep their ports. */
export async function keptPorts(file: string, count: number): Promise<number[]> {
  const before = portsIn(file).slice(0, count)
  for (const [index, port] of before.entries()) {
    if (await isSoonFree(port)) continue
    const hint = 'Stop what uses it, or begin anew with another storage folder'
    throw new Error(`port ${port}, where the locks expect participant ${index + 1}, is in use. ${hint}`)
  }
  const ports = [...before, ...(await freePorts(count - before.length))]
  mkdirSync(dirname(file), { recursive: true })
  // A smaller cluster does not forget the ports of a larger one.
  writeFileSync(file, JSON.stringify([...ports, ...portsIn(file).slice(count)]))
  return ports
}

function portsIn(file: string): number[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as number[]
  } catch {
    return []
  }
}
