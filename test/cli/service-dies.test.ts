/**
 * What goes on for long outlives the service: it says that nobody answers, and goes on when somebody does
 * again.
 */
import { expect, it } from 'vitest'
import { useService } from '../service/harness.ts'
import { jsonLines, useBaton } from './baton.ts'

const service = useService()
const { run, start } = useBaton(() => service.url)

it('status --follow says that the service is away, and that it is back', async () => {
  const { name } = service.lock()
  await run(['put', name, 'a', '1'])
  const following = start(['status', name, '--follow', '--every', '100ms'])
  await following.printed(/free; 0 waiting/)
  await service.kill()
  await following.printed(/No Baton service answers at \S+ \(connection refused\)/)
  await service.start()
  await following.printed(/No Baton service answers.*\n(?:.*\n)*.*free; 0 waiting/)
  following.signal('SIGTERM')
  expect((await following.ended).code).toBe(143)
})

it('status --follow of a service that was never there ends at once', async () => {
  const nobody = ['status', 'a', '--follow', '--url', 'http://127.0.0.1:9999']
  expect(await run(nobody)).toMatchObject({ code: 5, stdout: '' })
})

it('watch tells each operation once, also those that came while it had no connection', async () => {
  const { name } = service.lock()
  await run(['put', name, 'a', '1'])
  const watching = start(['watch', name, '--since', '0', '--json'])
  await watching.printed(/"value":1/)
  await service.kill()
  await service.start()
  await run(['put', name, 'a', '2'])
  await watching.printed(/"value":2/)
  watching.signal('SIGINT')
  const ended = await watching.ended
  expect(ended.code).toBe(130)
  const operations = jsonLines(ended).filter(event => (event as { type: string }).type === 'op')
  expect(operations).toMatchObject([{ changes: [{ value: 1 }] }, { changes: [{ value: 2 }] }])
})
