/** The locks of the service, and the way to make one. */
import { useEffect, useState } from 'preact/hooks'
import type { ListedLock } from '../../client/listing.ts'
import { addressOfLock } from '../route.ts'
import { Field } from '../view/field.tsx'
import { CreateLock } from './create-lock.tsx'
import { Problem } from './problem.tsx'
import type { Service } from './service.ts'

const LOCKS_ON_A_PAGE = 50
const AGAIN_MS = 4_000
/** As long as somebody types, the service is not asked. */
const TYPING_MS = 150

export function LocksPage({ service }: { readonly service: Service }) {
  const [prefix, setPrefix] = useState('')
  const [pages, setPages] = useState(1)
  const { locks, hasMore, problem, isLoaded } = useLocks(service, prefix, pages * LOCKS_ON_A_PAGE)
  useEffect(() => {
    document.title = 'Locks · Baton'
  }, [])
  return (
    <>
      <h1>Locks</h1>
      <p class="soft lead">
        A lock together with the state it guards, kept in several regions. Open one to see its token move.
      </p>
      {problem !== null && <Problem error={problem} />}
      <div class="two">
        <section class="panel" aria-label="List of locks">
          <Field label="Find locks whose names begin with">
            {id => (
              <input
                id={id}
                type="search"
                value={prefix}
                maxLength={64}
                onInput={event => {
                  setPrefix(event.currentTarget.value.trim())
                  setPages(1)
                }}
              />
            )}
          </Field>
          {locks.length > 0 && <LocksTable locks={locks} />}
          {isLoaded && locks.length === 0 && (
            <p class="soft empty">
              {prefix === ''
                ? 'There are no locks yet. Make the first one.'
                : `No lock begins with ${prefix}.`}
            </p>
          )}
          {hasMore && (
            <button type="button" onClick={() => setPages(pages + 1)}>
              Show more
            </button>
          )}
        </section>
        <CreateLock service={service} />
      </div>
    </>
  )
}

function LocksTable({ locks }: { readonly locks: readonly ListedLock[] }) {
  return (
    <table class="locks">
      <caption class="hidden">Locks</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Protocol</th>
          <th scope="col" class="figure">
            Participants
          </th>
        </tr>
      </thead>
      <tbody>
        {locks.map(({ lock, protocol, participants }) => (
          <tr key={lock}>
            <th scope="row">
              <a href={addressOfLock(lock)}>{lock}</a>
            </th>
            <td>{protocol}</td>
            <td class="figure">{participants}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface Listed {
  readonly locks: readonly ListedLock[]
  readonly hasMore: boolean
  readonly problem: unknown
  readonly isLoaded: boolean
}

const NOTHING: Listed = { locks: [], hasMore: false, problem: null, isLoaded: false }

/** The first locks that begin so, asked for again and again. */
function useLocks(service: Service, prefix: string, most: number): Listed {
  const [listed, setListed] = useState(NOTHING)
  useEffect(() => {
    const end = new AbortController()
    const load = async () => {
      if (!document.hidden) setListed(await listOnce(service, prefix, most, end.signal))
    }
    const reload = () => {
      load().then(
        () => {
          timer = setTimeout(reload, AGAIN_MS)
        },
        error => {
          if (end.signal.aborted) return
          setListed({ ...NOTHING, problem: error, isLoaded: false })
          timer = setTimeout(reload, AGAIN_MS)
        },
      )
    }
    let timer = setTimeout(reload, prefix === '' ? 0 : TYPING_MS)
    return () => {
      end.abort()
      clearTimeout(timer)
    }
  }, [service, prefix, most])
  return listed
}

/** A page may have fewer locks than its limit, and is not the last one for that. */
async function listOnce(
  { baton }: Service,
  prefix: string,
  most: number,
  signal: AbortSignal,
): Promise<Listed> {
  const locks: ListedLock[] = []
  const wanted = prefix === '' ? {} : { prefix }
  for await (const lock of baton.eachLock({ ...wanted, limit: LOCKS_ON_A_PAGE, signal })) {
    if (locks.length === most) return { locks, hasMore: true, problem: null, isLoaded: true }
    locks.push(lock)
  }
  return { locks, hasMore: false, problem: null, isLoaded: true }
}
