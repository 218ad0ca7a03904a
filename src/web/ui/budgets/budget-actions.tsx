import { IconArrowBackUp, IconCalendarPlus, IconPencil } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import type { Budget, OrganisationBudget } from '../../../contract/entities/budget.ts'
import { useQuotaFormat } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { useMay } from '../../lib/session.ts'
import { actionIcon, type RowAction } from '../list/row-action.ts'
import { RowActions } from '../list/row-actions.tsx'
import { deleteAction } from '../list/row-common-actions.tsx'
import { texts } from './texts.ts'
import { useWindowText } from './windows.ts'
import { useBudgetWrites } from './writes.ts'

const OverrideDialog = lazy(async () => ({ default: (await import('./override-dialog.tsx')).OverrideDialog }))

/** The actions on one budget. Owners can only view what an admin has set. */
export function BudgetActions({ budget, onEdit }: { budget: Budget | OrganisationBudget; onEdit: () => void }) {
  const say = useText(texts)
  const isAdmin = useMay('admin')
  const amount = useQuotaFormat()(budget.amount)
  const name = `${budget.subject_name} ${amount} ${useWindowText()(budget)}`
  const [overriding, setOverriding] = useState(false)
  const params = { id: budget.id }
  const reset = useWrite('POST /api/budget/:id/reset', { invalidates: ['GET /api/budget/'], success: say('wasReset') })
  const { remove } = useBudgetWrites({ success: say('deleted') })
  // Below an organisation, its managers may.
  const isOfOrganisation = 'may_manage' in budget
  const mayChange = isOfOrganisation ? budget.may_manage : isAdmin || budget.set_by === 'owner'
  const toReset: RowAction = {
    label: say('reset'),
    icon: <IconArrowBackUp {...actionIcon} />,
    disabled: reset.isPending,
    ask: { title: say('resetTitle'), object: name, body: say('resetBody') },
    onClick: () => reset.mutate({ params }),
  }
  const toOverride: RowAction = {
    label: say('override'),
    icon: <IconCalendarPlus {...actionIcon} />,
    onClick: () => setOverriding(true),
  }
  const actions: RowAction[] = [
    { label: say('edit'), icon: <IconPencil {...actionIcon} />, primary: true, onClick: onEdit },
    ...(isAdmin ? [toReset] : []),
    ...(isAdmin || isOfOrganisation ? [toOverride] : []),
    deleteAction(say, { object: name, onClick: () => remove(budget.id) }),
  ]
  return (
    <>
      <RowActions name={name} actions={mayChange ? actions : []} />
      {overriding && (
        <Suspense>
          <OverrideDialog budget={budget} onClose={() => setOverriding(false)} />
        </Suspense>
      )}
    </>
  )
}
