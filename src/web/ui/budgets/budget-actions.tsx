import { IconArrowBackUp, IconCalendarPlus, IconPencil } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import type { Budget } from '../../../contract/entities/budget.ts'
import { useQuotaFormat } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { useMay } from '../../lib/session.ts'
import { actionIcon, type RowAction } from '../list/row-action.ts'
import { RowActions } from '../list/row-actions.tsx'
import { deleteAction } from '../list/row-common-actions.tsx'
import { texts } from './texts.ts'
import { useWindowText } from './windows.ts'

const OverrideDialog = lazy(async () => ({ default: (await import('./override-dialog.tsx')).OverrideDialog }))

/** The actions on one budget. Owners can only view what an admin has set. */
export function BudgetActions({ budget, onEdit }: { budget: Budget; onEdit: () => void }) {
  const say = useText(texts)
  const isAdmin = useMay('admin')
  const amount = useQuotaFormat()(budget.amount)
  const name = `${budget.subject_name} ${amount} ${useWindowText()(budget)}`
  const [overriding, setOverriding] = useState(false)
  const params = { id: budget.id }
  const reset = useWrite('POST /api/budget/:id/reset', { invalidates: ['GET /api/budget/'], success: say('wasReset') })
  const remove = useWrite('DELETE /api/budget/:id', { invalidates: ['GET /api/budget/'], success: say('deleted') })
  const ofAdmin: RowAction[] = [
    {
      label: say('reset'),
      icon: <IconArrowBackUp {...actionIcon} />,
      disabled: reset.isPending,
      ask: { title: say('resetTitle'), object: name, body: say('resetBody') },
      onClick: () => reset.mutate({ params }),
    },
    { label: say('override'), icon: <IconCalendarPlus {...actionIcon} />, onClick: () => setOverriding(true) },
  ]
  const actions: RowAction[] = [
    { label: say('edit'), icon: <IconPencil {...actionIcon} />, primary: true, onClick: onEdit },
    ...(isAdmin ? ofAdmin : []),
    deleteAction(say, { object: name, onClick: () => remove.mutate({ params }) }),
  ]
  return (
    <>
      <RowActions name={name} actions={isAdmin || budget.set_by === 'owner' ? actions : []} />
      {overriding && (
        <Suspense>
          <OverrideDialog budget={budget} onClose={() => setOverriding(false)} />
        </Suspense>
      )}
    </>
  )
}
