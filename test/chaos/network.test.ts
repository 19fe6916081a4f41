/**
 * The links break what they say they break, and nothing else: a fault that does not happen proves nothing.
 */
import { once } from 'node:events'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { eventually } from '../service/eventually.ts'
import { LOST, Network } from './network.ts'

/** Remembers what it hears and says it again in capital letters. */
class Echo {
  heard = ''
  readonly server: Server = createServer(socket =>
    socket
      .on('error', () => {})
      .on('data', data => {
        this.heard += data
        socket.write(String(data).toUpperCase())
      }),
  )
}

let echo: Echo
let network: Network

beforeEach(async () => {
  echo = new Echo()
  echo.server.listen(0, '127.0.0.1')
  await once(echo.server, 'listening')
  network = new Network()
  await network.connect('a', 'b', (echo.server.address() as { port: number }).port)
})
afterEach(async () => {
  await network.close()
  echo.server.close()
})

function talk(): { socket: Socket; answered: () => string; isOver: () => boolean } {
  const [host, port] = network.link('a', 'b').address.split(':')
  const socket = createConnection(Number(port), host)
  let [text, over] = ['', false]
  socket.on('error', () => {})
  socket.on('data', data => {
    text += data
  })
  socket.on('close', () => {
    over = true
  })
  return { socket, answered: () => text, isOver: () => over }
}

it('an open link carries both ways', async () => {
  const { socket, answered } = talk()
  socket.write('hello')
  await eventually(() => expect(answered()).toBe('HELLO'))
})

it('whoever is muted is not heard, and a connection that lost something ends with the healing', async () => {
  network.mute('a', LOST)
  const [lost, later] = [talk(), talk()]
  lost.socket.write('lost')
  await eventually(() => expect(network.link('a', 'b').damaged).toBe(1))
  network.heal()
  await eventually(() => expect(lost.isOver()).toBe(true))
  later.socket.write('later')
  await eventually(() => expect(later.answered()).toBe('LATER'))
  expect(echo.heard).toBe('later')
})

it('whoever is deafened is heard, but hears no answer', async () => {
  network.deafen('a', LOST)
  const { socket, answered, isOver } = talk()
  socket.write('heard')
  await eventually(() => expect(network.link('a', 'b').damaged).toBe(1))
  network.heal()
  await eventually(() => expect(isOver()).toBe(true))
  expect(echo.heard).toBe('heard')
  expect(answered()).toBe('')
})

it('a link that was slow keeps the order of what it carries', async () => {
  const { socket, answered } = talk()
  network.mute('a', { type: 'slow', ms: 200 })
  socket.write('slow ')
  await once(socket, 'connect')
  network.heal()
  socket.write('and fast')
  await eventually(() => expect(answered()).toBe('SLOW AND FAST'))
})
