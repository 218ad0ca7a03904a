import { useSyncExternalStore } from 'react'
import { ApiError } from './call.ts'
import { defineTexts, textOf } from './i18n.ts'

/** Short messages at the top of the window. The same message shown twice at once is one message. */

type Kind = 'success' | 'info' | 'warn' | 'error'

const colors: Readonly<Record<Kind, string>> = { success: 'green', info: 'sluice', warn: 'yellow', error: 'red' }
const shownMs: Readonly<Record<Kind, number>> = { success: 5000, info: 5000, warn: 6000, error: 8000 }

let wanted = false
const listeners = new Set<() => void>()

/** Loads the component that displays messages. */
export function loadToasts(): void {
  wanted = true
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useToastsWanted = (): boolean => useSyncExternalStore(subscribe, () => wanted)

/** The notifications are not part of the first load. */
async function show(kind: Kind, message: string): Promise<void> {
  loadToasts()
  const { notifications } = await import('@mantine/notifications')
  const id = `${kind}:${message}`
  notifications.show({
    id,
    message,
    color: colors[kind],
    autoClose: shownMs[kind],
    role: kind === 'error' ? 'alert' : 'status',
    closeButtonProps: { 'aria-label': textOf(texts, 'close') },
  })
}

export const toast = {
  success: (message: string): void => void show('success', message),
  info: (message: string): void => void show('info', message),
  warn: (message: string): void => void show('warn', message),
  error: (message: string): void => void show('error', message),
  /** Shows the reason of a failure. An expired session is reported on the login page instead. */
  failure: (cause: unknown): void => showFailure(cause, (reason) => reason),
  /** Shows the reason of a failure with the name of the failed action, if it is not evident. */
  failureOf: (what: string, cause: unknown): void => showFailure(cause, (reason) => textOf(texts, 'because', { what, reason })),
}

function showFailure(cause: unknown, messageOf: (reason: string) => string): void {
  if (cause instanceof ApiError && cause.status === 401) return
  void show('error', messageOf(cause instanceof Error ? cause.message : String(cause)))
}

const texts = defineTexts({
  close: ['关闭此消息', 'Close this message'],
  because: ['{what}：{reason}', '{what}: {reason}'],
})
