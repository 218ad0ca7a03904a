import { lazy, Suspense, useSyncExternalStore } from 'react'

/** Asks who is in front of the screen to prove it once more, wherever a call needs it. The dialog is loaded with the first question. */

const Dialog = lazy(async () => ({ default: (await import('./prove-again-dialog.tsx')).ProveAgainDialog }))

let asked: ((proved: boolean) => void) | undefined
const listeners = new Set<() => void>()

function change(next: typeof asked): void {
  asked = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Whether the proof was given; closing the dialog means no. */
export function askForProof(): Promise<boolean> {
  return new Promise((resolve) => change(resolve))
}

export function ProveAgain() {
  const open = useSyncExternalStore(subscribe, () => asked)
  if (!open) return null

  function answer(proved: boolean): void {
    open?.(proved)
    change(undefined)
  }

  return (
    <Suspense>
      <Dialog onAnswer={answer} />
    </Suspense>
  )
}
