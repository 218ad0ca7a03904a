import { useEffect, useState } from 'react'

/** Drawers and dialogs that lie over the page, the topmost last. */
const layers: symbol[] = []

/** Returns whether this layer is the topmost: Esc reaches all open layers, and only the topmost may close on it. */
export function useLayer(open = true): () => boolean {
  const [self] = useState(() => Symbol('layer'))
  // Outside of React: the list of all open layers, anywhere in the tree.
  useEffect(() => {
    if (!open) return
    layers.push(self)
    return () => void layers.splice(layers.indexOf(self), 1)
  }, [open, self])
  return () => layers.at(-1) === self
}
