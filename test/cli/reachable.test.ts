/** Whether a service is there is asked of an address that never answers. */

import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { mustBeThere } from '../../cli/reachable.ts'

it('Ctrl-C does not wait for a connection', async () => {
  const { connect } = net
  const sockets: net.Socket[] = []
  const put = (value: unknown) => {
    Object.assign(net, { connect: value })
    syncBuiltinESMExports()
  }
  onTestFinished(() => put(connect))
  put((options: net.SocketConstructorOpts) => {
    sockets.push(new net.Socket(options))
    return sockets.at(-1)
  })
  const controller = new AbortController()
  const asked = mustBeThere('http://127.0.0.1:8787', controller.signal)
  controller.abort()
  await expect(asked).rejects.toThrow()
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true])
})
