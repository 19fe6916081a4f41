/** How wide an element is, as long as it is shown. */
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** What is assumed until the element is on the page. */
const FIRST_WIDTH = 360

export function useWidth<Shown extends Element>(): readonly [RefObject<Shown | null>, number] {
  const element = useRef<Shown>(null)
  const [width, setWidth] = useState(FIRST_WIDTH)
  useEffect(() => {
    if (element.current === null) return
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry!.contentRect.width)))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return [element, width]
}
