import { lazy, Suspense, useSyncExternalStore } from 'react'
import type { DialogContent } from './dialog-view.tsx'

/**
 * Questions and messages that stop the work until they are answered. Any code may ask; the shell holds the one place where they appear,
 * one after another, and the dialog itself is loaded with the first of them.
 */

interface Dialog {
  readonly content: DialogContent
  readonly answer: (confirmed: boolean) => void
}

const DialogView = lazy(async () => ({ default: (await import('./dialog-view.tsx')).DialogView }))

let queue: readonly Dialog[] = []
const listeners = new Set<() => void>()

function change(next: readonly Dialog[]): void {
  queue = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Shows a dialog and returns whether it was confirmed; closing it in any way means no. */
export function showDialog(content: DialogContent): Promise<boolean> {
  return new Promise((resolve) => change([...queue, { content, answer: resolve }]))
}

export function Dialogs() {
  const [dialog] = useSyncExternalStore(subscribe, () => queue)
  if (!dialog) return null

  function answer(confirmed: boolean): void {
    dialog?.answer(confirmed)
    change(queue.slice(1))
  }

  return (
    <Suspense>
      <DialogView content={dialog.content} onAnswer={answer} />
    </Suspense>
  )
}
