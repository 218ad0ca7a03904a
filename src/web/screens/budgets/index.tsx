import { IconGauge } from '@tabler/icons-react'
import { Navigate } from '@tanstack/react-router'
import { lazy, useState } from 'react'
import { type Budget, budgetScopeLabels, siteBudgetScopes } from '../../../contract/entities/budget.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { usePayer } from '../../lib/payer.ts'
import { useMay } from '../../lib/session.ts'
import { BudgetActions } from '../../ui/budgets/budget-actions.tsx'
import { useBudgetColumns } from '../../ui/budgets/columns.tsx'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import { ListFrame } from '../../ui/list/list-frame.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { useListState } from '../../ui/list/list-state.ts'
import { texts } from './texts.ts'

const BudgetForm = lazy(async () => ({ default: (await import('../../ui/budgets/budget-form.tsx')).BudgetForm }))
const NewBudget = lazy(async () => ({ default: (await import('./new-budget.tsx')).NewBudget }))

/** Those of the organisation that pays are a tree of its own screen. */
export function Screen() {
  return usePayer() ? <Navigate to="/organisation" search={{ tab: 'budgets' }} replace /> : <Budgets />
}

/** All budgets that the user may see: for admins all of the site, for others those of their account and tokens. */
function Budgets() {
  const say = useText(texts)
  const local = useLocal()
  const isAdmin = useMay('admin')
  const state = useListState({ scope: '' })
  const list = useList('GET /api/budget/', { query: { scope: scopeIn(state.asked.scope), ...state.paging } })
  const [drawer, setDrawer] = useState<{ readonly budget: Budget | undefined }>()
  const close = () => setDrawer(undefined)
  return (
    <>
      <ListFrame
        name="budgets"
        title={say('title')}
        description={say(isAdmin ? 'description' : 'ownDescription')}
        state={state}
        {...list}
        columns={useBudgetColumns({ withSubject: true })}
        filters={[
          {
            kind: 'select',
            name: 'scope',
            label: say('scope'),
            choices: siteBudgetScopes.map((value) => ({ value, label: local(budgetScopeLabels[value]) })),
          },
        ]}
        rowActions={(budget) => <BudgetActions budget={budget} onEdit={() => setDrawer({ budget })} />}
        add={{ label: say('add'), first: say('first'), onClick: () => setDrawer({ budget: undefined }) }}
        empty={{ title: say('empty'), hint: say('emptyHint'), icon: <IconGauge /> }}
      />
      <SideDrawer subject={drawer} title={({ budget }) => say(budget ? 'edit' : 'add')} onClose={close}>
        {({ budget }) => (budget ? <BudgetForm budget={budget} onDone={close} /> : <NewBudget onDone={close} />)}
      </SideDrawer>
    </>
  )
}

function scopeIn(typed: string) {
  return siteBudgetScopes.find((scope) => scope === typed) ?? ''
}
