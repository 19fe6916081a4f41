/** What the service says about itself, at the bottom of the page. */
import { useEffect, useState } from 'preact/hooks'
import type { HomeAnswer } from '../../shared/api/types.ts'
import { plural } from '../view/words.ts'
import type { Service } from './service.ts'

export function About({ service }: { readonly service: Service }) {
  const [about, setAbout] = useState<HomeAnswer | null>(null)
  useEffect(() => {
    // The page is of use without it, and says elsewhere if the service does not answer.
    service.about().then(setAbout, () => {})
  }, [service])
  if (about === null) return <footer class="bottom" />
  const { version, protocol, participants, ledger, links } = about
  const places = participants.flatMap(({ location }) => location ?? []).join(', ')
  return (
    <footer class="bottom">
      <p>
        Baton {version}. A new lock has {plural(participants.length, 'participant')}
        {places === '' ? '' : ` (${places})`}, which agree by {protocol}.
        {ledger !== undefined && !(ledger.healed && ledger.unfinishedLocks === 0) && (
          <strong> This process is being given back what it lost.</strong>
        )}{' '}
        <a href={links.openapi}>OpenAPI</a> · <a href={links.health}>health</a> ·{' '}
        <a href={links.metrics}>metrics</a>
      </p>
    </footer>
  )
}
