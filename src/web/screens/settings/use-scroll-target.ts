import { useLocation } from '@tanstack/react-router'
import { type RefObject, useEffect, useRef } from 'react'

const markedMs = 3000

/** Scrolls to the section, or the single setting, that the mark of the address names, and shows for a moment which it is. */
export function useScrollTarget(isDrawn: boolean): RefObject<HTMLDivElement | null> {
  const area = useRef<HTMLDivElement>(null)
  const location = useLocation()

  // Outside of React: where the page is scrolled to. Each way to an address is one, though it may be the same address.
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
