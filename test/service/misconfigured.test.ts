/** A service with a mistake in one of its variables serves nothing, says which, and touches no lock. */
import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROUTE_IDS, ROUTES } from '../../shared/api/routes.ts'
import { useService } from './harness.ts'

describe.each([
  ['BATON_PROTOCOL', 'wme2'],
  ['BATON_PARTICIPANTS', '[{"location": "europe"}]'],
])('%s = %s', (name, value) => {
  const service = useService({ [name]: value, BATON_TYPO: 'x' })

  it('is answered with 503 and the name of the variable, whatever is asked', async () => {
    for (const id of ROUTE_IDS) {
      const { method, path } = ROUTES[id]
      const { status, body, headers } = await service.send(
        method.toUpperCase(),
        path.replace(/\{\w+\}/g, 'a'),
      )
      expect([status, body.code], path).toEqual([503, 'misconfigured'])
      expect(body.detail).toContain(name)
      expect(headers.get('retry-after')).not.toBeNull()
    }
  })

  it('is in the log, once; and so is a variable that nobody knows', () => {
    const output = service.output.join('\n')
    expect(output.split(`"level":"error"`)).toHaveLength(2)
    expect(output).toContain(name)
    expect(output).toContain('BATON_TYPO is no variable of Baton')
  })

  it('touches no lock: nothing is stored', () => {
    // An object is a file with 64 hexadecimal digits for a name.
    const files = readdirSync(service.storage, { recursive: true, withFileTypes: true })
    expect(files.filter(file => /^[0-9a-f]{64}/.test(file.name)).map(file => file.name)).toEqual([])
  })
})
