import { lazy, Suspense, useSyncExternalStore } from 'react'

/** Asks the user to authenticate again when a call requires it. The dialog is loaded when it is first needed. */

const Dialog = lazy(async () => ({ default: (await import('./reauthentication-dialog.tsx')).ReauthenticationDialog }))

let asked: ((isAuthenticated: boolean) => void) | undefined
const listeners = new Set<() => void>()

function change(next: typeof asked): void {
  asked = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Whether the user authenticated again; closing the dialog means no. */
export function requestReauthentication(): Promise<boolean> {
  return new Promise((resolve) => change(resolve))
}

export function Reauthentication() {
  const open = useSyncExternalStore(subscribe, () => asked)
  if (!open) return null

  function answer(isAuthenticated: boolean): void {
    open?.(isAuthenticated)
    change(undefined)
  }

  return (
    <Suspense>
      <Dialog onAnswer={answer} />
    </Suspense>
  )
}
