import { useState } from 'react'

/** State collected for one key, such as a filter; reset for another key. It may be mutated. */
export function useKeyedState<State>(key: string, fresh: () => State): State {
  const [held, setHeld] = useState(() => ({ key, state: fresh() }))
  if (held.key === key) return held.state
  const next = { key, state: fresh() }
  setHeld(next)
  return next.state
}
