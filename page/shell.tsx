/** What every place of the page has around it: its name, the way to the others, and the key. */
import type { ComponentType } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { About } from './live/about.tsx'
import { KeyField, storedKey } from './live/key-field.tsx'
import { LockPage } from './live/lock-page.tsx'
import { LocksPage } from './live/locks-page.tsx'
import { Service } from './live/service.ts'
import { type Route, routeOf } from './route.ts'

export function Shell() {
  const route = useRoute()
  const [key, setKey] = useState(storedKey)
  const service = useMemo(() => new Service(key), [key])
  const isLive = route.type !== 'simulated'
  return (
    <>
      <button type="button" class="skip" onClick={skipToContent}>
        Skip to the content
      </button>
      <header class="top">
        <a class="name" href="#/">
          <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
            <path d="M6 26 26 6" class="mark" />
          </svg>
          Baton
        </a>
        <nav aria-label="Places">
          <a href="#/" aria-current={isLive ? 'page' : undefined}>
            Locks
          </a>
          <a href="#/simulated" aria-current={isLive ? undefined : 'page'}>
            Simulated
          </a>
          <a href={service.docs}>API</a>
        </nav>
        {isLive && <KeyField value={key} onChange={setKey} />}
      </header>
      <main class="content" id="content" tabIndex={-1}>
        <Place route={route} service={service} />
      </main>
      {isLive && <About service={service} />}
    </>
  )
}

function Place({ route, service }: { readonly route: Route; readonly service: Service }) {
  if (route.type === 'locks') return <LocksPage service={service} />
  if (route.type === 'lock') return <LockPage key={route.lock} service={service} name={route.lock} />
  return <Simulated parameters={route.parameters} />
}

function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location.hash))
  useEffect(() => {
    const onChange = () => setRoute(routeOf(location.hash))
    addEventListener('hashchange', onChange)
    return () => removeEventListener('hashchange', onChange)
  }, [])
  return route
}

/** The part behind `#` names the place, so that it cannot name an element as well. */
function skipToContent(): void {
  document.querySelector<HTMLElement>('#content')?.focus()
}

interface SimulatedProps {
  readonly parameters: URLSearchParams
}

/** The protocols are loaded only by whoever wants to see them run. */
function Simulated({ parameters }: SimulatedProps) {
  const [loaded, setLoaded] = useState<{ readonly View: ComponentType<SimulatedProps> } | null>(null)
  const [failure, setFailure] = useState('')
  useEffect(() => {
    document.title = 'Simulated · Baton'
    import('./simulated/index.tsx').then(
      module => setLoaded({ View: module.default }),
      () => setFailure('This part of the page could not be loaded. Load the page again.'),
    )
  }, [])
  if (failure !== '') return <p role="alert">{failure}</p>
  return loaded === null ? <p class="soft">Loading…</p> : <loaded.View parameters={parameters} />
}
