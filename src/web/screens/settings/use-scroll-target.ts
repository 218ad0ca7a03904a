import { useLocation } from '@tanstack/react-router'
import { type RefObject, useEffect, useRef } from 'react'

const markedMs = 3000

/** Scrolls to the section, or the single setting, that the hash of the address names, and highlights it for a moment. */
export function useScrollTarget(isDrawn: boolean): RefObject<HTMLDivElement | null> {
  const area = useRef<HTMLDivElement>(null)
  const location = useLocation()

  // Synchronizes the scroll position of the page, which is outside of React. Each navigation to an address scrolls, even if the
  // address stays the same.
  useEffect(() => {
    if (!isDrawn || location.hash === '') return
    const name = CSS.escape(location.hash)
    const found = area.current?.querySelector(`#${name}, [data-field="${name}"]`)
    if (!found) return
    found.scrollIntoView({ block: found.id === '' ? 'center' : 'start' })
    found.setAttribute('data-pointed-at', '')
    const timer = setTimeout(() => found.removeAttribute('data-pointed-at'), markedMs)
    return () => {
      clearTimeout(timer)
      found.removeAttribute('data-pointed-at')
    }
  }, [isDrawn, location])

  return area
}
