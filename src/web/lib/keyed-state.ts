import { useState } from 'react'

/** What was gathered for one key, such as a filter; it begins anew with another. It may be changed in place. */
export function useKeyedState<State>(key: string, fresh: () => State): State {
  const [held, setHeld] = useState(() => ({ key, state: fresh() }))
  if (held.key === key) return held.state
  const next = { key, state: fresh() }
  setHeld(next)
  return next.state
}
