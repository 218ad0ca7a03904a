import type { ReactNode } from 'react'
import { textOf } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import styles from './confirm.module.css'
import { showDialog } from './dialogs.tsx'

export interface ConfirmOptions {
  readonly title: string
  /** The name of the affected item, shown separately so that it is read. */
  readonly object?: ReactNode
  /** The consequences of the action. */
  readonly body?: ReactNode
  /** The label of the confirming button; "Confirm" by default. */
  readonly confirmLabel?: string
  readonly cancelLabel?: string
  /** It cannot be undone. */
  readonly danger?: boolean
}

/** `if (await confirm({ title, object: row.name, danger: true })) remove.mutate(…)`. Closing it means no. */
export function confirm({ title, object, body, confirmLabel, cancelLabel, danger = false }: ConfirmOptions): Promise<boolean> {
  return showDialog({
    title,
    body: (
      <>
        {object !== undefined && <p className={styles.object}>{object}</p>}
        {body !== undefined && <div className={styles.body}>{body}</div>}
      </>
    ),
    confirmLabel: confirmLabel ?? textOf(texts, 'confirm'),
    cancelLabel: cancelLabel ?? textOf(texts, 'cancel'),
    danger,
  })
}

let discarding: Promise<boolean> | undefined

/** One question at a time: a concurrent caller gets the same answer. */
export function confirmDiscard(): Promise<boolean> {
  discarding ??= askDiscard().finally(() => {
    discarding = undefined
  })
  return discarding
}

function askDiscard(): Promise<boolean> {
  return confirm({
    title: textOf(texts, 'discardTitle'),
    body: textOf(texts, 'discardBody'),
    confirmLabel: textOf(texts, 'discard'),
    cancelLabel: textOf(texts, 'keepEditing'),
    danger: true,
  })
}
