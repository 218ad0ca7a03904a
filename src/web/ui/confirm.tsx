import { modals } from '@mantine/modals'
import type { ReactNode } from 'react'
import { textOf } from '../lib/i18n.ts'
import styles from './confirm.module.css'
import { texts } from './texts.ts'

export interface ConfirmOptions {
  readonly title: string
  /** The name of what it happens to, shown by itself so that it is read. */
  readonly object?: ReactNode
  /** What follows from it. */
  readonly body?: ReactNode
  /** Says what will be done; defaults to "Confirm". */
  readonly confirmLabel?: string
  readonly cancelLabel?: string
  /** It cannot be undone. */
  readonly danger?: boolean
}

/** `if (await confirm({ title, object: row.name, danger: true })) remove.mutate(…)`. Closing it means no. */
export function confirm({ title, object, body, confirmLabel, cancelLabel, danger = false }: ConfirmOptions): Promise<boolean> {
  return new Promise((resolve) => {
    modals.openConfirmModal({
      title,
      children: (
        <>
          {object !== undefined && <p className={styles.object}>{object}</p>}
          {body !== undefined && <div className={styles.body}>{body}</div>}
        </>
      ),
      labels: { confirm: confirmLabel ?? textOf(texts, 'confirm'), cancel: cancelLabel ?? textOf(texts, 'cancel') },
      confirmProps: { color: danger ? 'red' : 'sluice' },
      // The harmless button has the focus.
      cancelProps: { 'data-autofocus': true },
      onConfirm: () => resolve(true),
      onCancel: () => resolve(false),
      onClose: () => resolve(false),
    })
  })
}

export function confirmDiscard(): Promise<boolean> {
  return confirm({
    title: textOf(texts, 'discardTitle'),
    body: textOf(texts, 'discardBody'),
    confirmLabel: textOf(texts, 'discard'),
    cancelLabel: textOf(texts, 'keepEditing'),
    danger: true,
  })
}
