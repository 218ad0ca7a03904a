import { useEffect, useState } from 'react'

/** The remaining seconds of a countdown; 0 when none is running. */
export function useCountdown(): { left: number; start: (seconds: number) => void } {
  const [until, setUntil] = useState(0)
  const [left, setLeft] = useState(0)

  // Outside of React: the clock.
  useEffect(() => {
    if (until === 0) return
    const timer = setInterval(() => {
      const rest = Math.max(0, Math.ceil((until - Date.now()) / 1000))
      setLeft(rest)
      if (rest === 0) setUntil(0)
    }, 250)
    return () => clearInterval(timer)
  }, [until])

  return {
    left,
    start: (seconds) => {
      setUntil(Date.now() + seconds * 1000)
      setLeft(seconds)
    },
  }
}
