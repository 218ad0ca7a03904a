import { useLocation } from '@tanstack/react-router'
import { type RefObject, useEffect, useRef } from 'react'

const markedMs = 3000

/**
 * Scrolls to the section, or the single setting, that the address names, and highlights it for a moment. `open` is the section that is
 * shown alone, at the top of the page.
 */
export function useScrollTarget(isDrawn: boolean, open: string | undefined): RefObject<HTMLDivElement | null> {
  const area = useRef<HTMLDivElement>(null)
  const location = useLocation()

  // Synchronizes the scroll position of the page, which is outside of React. Each navigation to an address scrolls, even if the
  // address stays the same.
  useEffect(() => {
    const target = location.hash || (new URLSearchParams(location.searchStr).get('section') ?? '')
    if (!isDrawn || target === '' || target === open) return
    const name = CSS.escape(target)
    const found = area.current?.querySelector(`#${name}, [data-field="${name}"]`)
    if (!found) return
    found.scrollIntoView({ block: found.id === '' ? 'center' : 'start' })
    found.setAttribute('data-pointed-at', '')
    const timer = setTimeout(() => found.removeAttribute('data-pointed-at'), markedMs)
    return () => {
      clearTimeout(timer)
      found.removeAttribute('data-pointed-at')
    }
  }, [isDrawn, location, open])

  return area
}
