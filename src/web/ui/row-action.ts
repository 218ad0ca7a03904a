import type { ReactNode } from 'react'

/** Something that can be done with one row. */
export interface RowAction {
  readonly label: string
  readonly icon: ReactNode
  readonly onClick: () => void
  /** Stands in the row itself; the others are in the menu. */
  readonly primary?: boolean
  readonly danger?: boolean
  readonly disabled?: boolean
  readonly busy?: boolean
}
