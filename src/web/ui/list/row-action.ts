import type { ReactNode } from 'react'
import { type ConfirmOptions, confirm } from '../dialog/confirm.tsx'

/** Something that can be done with one row, or with several. */
export interface Action {
  readonly label: string
  readonly onClick: () => void
  readonly danger?: boolean | undefined
  readonly disabled?: boolean | undefined
  /** The confirmation that is asked for first; its button has the label of the action. */
  readonly ask?: Pick<ConfirmOptions, 'title' | 'object' | 'body'> | undefined
}

/** Something that can be done with one row. */
export interface RowAction extends Action {
  readonly icon: ReactNode
  /** Shown in the row itself; the others are in the menu. */
  readonly primary?: boolean
  readonly busy?: boolean
}

/** Icons of actions have one size. */
export const actionIcon = { size: 16, stroke: 1.6 } as const

/** Performs an action, after its confirmation. */
export async function perform({ ask, label, danger = false, onClick }: Action): Promise<void> {
  if (!ask || (await confirm({ ...ask, confirmLabel: label, danger }))) onClick()
}
