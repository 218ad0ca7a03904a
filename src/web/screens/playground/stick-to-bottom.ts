import { useEffect, useRef, useState } from 'react'

const nearPx = 48

/** Keeps a scrolling box at its end while its content grows, until its reader scrolls up. */
export function useStickToBottom() {
  const scroller = useRef<HTMLElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const following = useRef(true)
  const [isAway, setIsAway] = useState(false)

  // Outside of React: sizes and scroll positions.
  useEffect(() => {
    const box = scroller.current
    const growing = content.current
    if (!box || !growing) return
    let lastTop = box.scrollTop

    function follow(): void {
      if (box && following.current) box.scrollTop = box.scrollHeight
    }

    // Only the reader scrolls upwards: growing content does not scroll, and following it scrolls down.
    function note(): void {
      if (!box) return
      const isNear = box.scrollHeight - box.scrollTop - box.clientHeight < nearPx
      if (isNear) following.current = true
      else if (box.scrollTop < lastTop) following.current = false
      lastTop = box.scrollTop
      setIsAway(!following.current)
    }

    const sizes = new ResizeObserver(follow)
    sizes.observe(growing)
    sizes.observe(box)
    box.addEventListener('scroll', note, { passive: true })
    return () => {
      sizes.disconnect()
      box.removeEventListener('scroll', note)
    }
  }, [])

  function toBottom(): void {
    following.current = true
    setIsAway(false)
    if (scroller.current) scroller.current.scrollTop = scroller.current.scrollHeight
  }

  return { scroller, content, isAway, toBottom }
}
