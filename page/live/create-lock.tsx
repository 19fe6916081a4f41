/** Makes a lock: with the service's defaults, or with a protocol and regions of its own. */
import { useState } from 'preact/hooks'
import type { LockOptions } from '../../client/types.ts'
import { addressOfLock } from '../route.ts'
import { Field } from '../view/field.tsx'
import { REGION_CODES } from '../view/words.ts'
import { Problem } from './problem.tsx'
import type { Service } from './service.ts'

const PROTOCOLS = ['wme-2', 'wme-1', 'wme-consensus', 'ricart-agrawala', 'maekawa'] as const
type Protocol = (typeof PROTOCOLS)[number]

export function CreateLock({ service }: { readonly service: Service }) {
  const [name, setName] = useState('')
  const [protocol, setProtocol] = useState<Protocol | ''>('')
  const [regions, setRegions] = useState('')
  const [problem, setProblem] = useState<unknown>(null)
  const [isBusy, setIsBusy] = useState(false)
  const create = async (event: Event) => {
    event.preventDefault()
    setIsBusy(true)
    setProblem(null)
    try {
      await service.baton.lock(name).configure(optionsOf(protocol, regions))
      location.hash = addressOfLock(name)
    } catch (error) {
      setProblem(error)
    } finally {
      setIsBusy(false)
    }
  }
  return (
    <section class="panel actions">
      <h2>Make a lock</h2>
      {problem !== null && <Problem error={problem} onClose={() => setProblem(null)} />}
      <form class="stacked" onSubmit={create}>
        <Field label="Name">
          {id => (
            <input
              id={id}
              value={name}
              required
              maxLength={64}
              placeholder="demo"
              autocapitalize="off"
              spellcheck={false}
              onInput={event => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label="Protocol">
          {id => (
            <select
              id={id}
              value={protocol}
              onChange={event => setProtocol(event.currentTarget.value as Protocol | '')}
            >
              <option value="">the service's default</option>
              {PROTOCOLS.map(one => (
                <option key={one}>{one}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Regions, with commas between them">
          {id => (
            <input
              id={id}
              value={regions}
              placeholder="the service's default"
              autocapitalize="off"
              spellcheck={false}
              onInput={event => setRegions(event.currentTarget.value)}
            />
          )}
        </Field>
        <button type="submit" class="main" disabled={isBusy || name === ''}>
          Make it
        </button>
      </form>
      <p class="soft">
        <small>
          Regions: {REGION_CODES.join(', ')}. Nobody has to make a lock here: the first client that acquires
          one does.
        </small>
      </p>
    </section>
  )
}

function optionsOf(protocol: Protocol | '', regions: string): LockOptions {
  const locations = regions.split(',').flatMap(one => one.trim() || [])
  return {
    ...(protocol !== '' && { protocol }),
    ...(locations.length > 0 && { participants: locations.map(location => ({ location })) }),
  }
}
