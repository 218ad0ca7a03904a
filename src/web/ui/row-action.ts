import type { ReactNode } from 'react'
import { type ConfirmOptions, confirm } from './confirm.tsx'

/** Something that can be done with one row, or with several. */
export interface Action {
  readonly label: string
  readonly onClick: () => void
  readonly danger?: boolean | undefined
  readonly disabled?: boolean | undefined
  /** Asked first; the answer that does it reads as the act does. */
  readonly ask?: Pick<ConfirmOptions, 'title' | 'object' | 'body'> | undefined
}

/** Something that can be done with one row. */
export interface RowAction extends Action {
  readonly icon: ReactNode
  /** Shown in the row itself; the others are in the menu. */
  readonly primary?: boolean
  readonly busy?: boolean
}

/** Icons of acts have one size. */
export const actionIcon = { size: 16, stroke: 1.6 } as const

/** Does an act, after its question. */
export async function perform({ ask, label, danger = false, onClick }: Action): Promise<void> {
  if (!ask || (await confirm({ ...ask, confirmLabel: label, danger }))) onClick()
}
