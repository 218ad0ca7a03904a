import { IconCopy, IconPencil } from '@tabler/icons-react'
import { type Redemption, redemptionStatus } from '../../../contract/entities/redemption.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { actionIcon, type RowAction } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { deleteAction, toggleAction } from '../../ui/list/row-common-actions.tsx'
import { copyText } from '../../ui/view/copy-text.tsx'
import { redemptionLists } from './redemption-lines.ts'
import { texts } from './texts.ts'

/** Actions on one code. A used one can only be copied and deleted. */
export function Actions({ code, onEdit, onDeleted }: { code: Redemption; onEdit: () => void; onDeleted: () => void }) {
  const say = useText(texts)
  const { id, name, key, status } = code
  const isUnused = status === redemptionStatus.unused
  const toggle = useWrite('PUT /api/redemption/', {
    invalidates: redemptionLists,
    success: (after) => say(after.status === redemptionStatus.unused ? 'enabled' : 'disabled', { name }),
  })
  const remove = useWrite('DELETE /api/redemption/:id', {
    invalidates: redemptionLists,
    success: say('deleted', { name }),
    onSuccess: onDeleted,
  })

  const actions: RowAction[] = [
    { label: say('edit'), icon: <IconPencil {...actionIcon} />, primary: true, disabled: !isUnused, onClick: onEdit },
    { label: say('copyKey'), icon: <IconCopy {...actionIcon} />, onClick: () => void copyText(key, say('keyCopied')) },
    toggleAction(say, {
      isOn: isUnused,
      disabled: status === redemptionStatus.used || toggle.isPending,
      onClick: () =>
        toggle.mutate({
          query: { status_only: true },
          body: { id, status: isUnused ? redemptionStatus.disabled : redemptionStatus.unused },
        }),
    }),
    deleteAction(say, { object: name, onClick: () => remove.mutate({ params: { id } }) }),
  ]
  return <RowActions name={name} actions={actions} />
}
