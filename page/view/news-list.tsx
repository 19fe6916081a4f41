/** What has happened, in words, newest first. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { NewsPicture } from './lock-picture.ts'
import { Shown } from './shown.tsx'

export interface NewsListProps {
  /** Newest last. */
  readonly news: readonly NewsPicture[]
  /** How a time is written. */
  readonly timeOf: (at: number) => string
}

export function NewsList({ news, timeOf }: NewsListProps) {
  if (news.length === 0) return <p class="soft">Nothing has happened since you came.</p>
  return (
    <>
      <Shown items={news.toReversed()} few={12} most={200}>
        {shown => (
          <ol class="news">
            {shown.map((one, index) => (
              <li key={`${news.length - index} ${one.at}`} class={`news-${one.kind}`}>
                <time>{timeOf(one.at)}</time> <span>{one.text}</span>
              </li>
            ))}
          </ol>
        )}
      </Shown>
      <Announcer news={news} />
    </>
  )
}

/** Operations are too many to be read out. */
const isAnnounced = ({ kind }: NewsPicture): boolean => kind !== 'operation'
const ANNOUNCE_EVERY_MS = 4_000

/** For screen readers: the latest news, and not more of it than can be listened to. */
function Announcer({ news }: { readonly news: readonly NewsPicture[] }) {
  const latest = news.findLast(isAnnounced)?.text ?? ''
  const [said, setSaid] = useState(latest)
  const wanted = useRef(latest)
  wanted.current = latest
  useEffect(() => {
    const timer = setInterval(() => setSaid(wanted.current), ANNOUNCE_EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return (
    <p class="hidden" aria-live="polite">
      {said}
    </p>
  )
}
