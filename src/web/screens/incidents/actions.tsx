import { IconMessagePlus, IconPencil } from '@tabler/icons-react'
import type { AdminIncident } from '../../../contract/entities/incident.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { actionIcon } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { deleteAction } from '../../ui/list/row-common-actions.tsx'
import { incidentLines } from './lines.ts'
import { texts } from './texts.ts'

interface ActionsProps {
  readonly incident: AdminIncident
  readonly onEdit: () => void
  readonly onUpdate: () => void
  readonly onDeleted: () => void
}

export function Actions({ incident: { id, title }, onEdit, onUpdate, onDeleted }: ActionsProps) {
  const say = useText(texts)
  const remove = useWrite('DELETE /api/incident/:id', {
    invalidates: incidentLines,
    success: say('deleted', { title }),
    onSuccess: onDeleted,
  })
  return (
    <RowActions
      name={title}
      actions={[
        { label: say('publishUpdate'), icon: <IconMessagePlus {...actionIcon} />, primary: true, onClick: onUpdate },
        { label: say('edit'), icon: <IconPencil {...actionIcon} />, onClick: onEdit },
        deleteAction(say, { object: title, onClick: () => remove.mutate({ params: { id } }) }),
      ]}
    />
  )
}
