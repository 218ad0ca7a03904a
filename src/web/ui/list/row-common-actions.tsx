import { IconCircleCheck, IconCircleOff, IconTrash } from '@tabler/icons-react'
import { actionIcon, type RowAction } from './row-action.ts'

/** Actions that most lists have, with the texts of the list. */

interface Toggled {
  readonly isOn: boolean
  readonly disabled: boolean
  readonly onClick: () => void
}

/** Turns on what is off, and the reverse. */
export function toggleAction(say: (key: 'enable' | 'disable') => string, { isOn, ...toggled }: Toggled): RowAction {
  const Icon = isOn ? IconCircleOff : IconCircleCheck
  return { label: say(isOn ? 'disable' : 'enable'), icon: <Icon {...actionIcon} />, ...toggled }
}

interface Deleted {
  /** What is deleted, as the question names it. */
  readonly object: string
  readonly onClick: () => void
}

/** Deletes after a question. */
export function deleteAction(
  say: (key: 'delete' | 'deleteTitle' | 'deleteBody') => string,
  { object, onClick }: Deleted,
): RowAction {
  return {
    label: say('delete'),
    icon: <IconTrash {...actionIcon} />,
    danger: true,
    ask: { title: say('deleteTitle'), object, body: say('deleteBody') },
    onClick,
  }
}
