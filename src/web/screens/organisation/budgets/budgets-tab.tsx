import { Button, Skeleton } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, useState } from 'react'
import type { BudgetScope, OrganisationBudget } from '../../../../contract/entities/budget.ts'
import { useText } from '../../../lib/i18n.ts'
import { managesAll, type Payer } from '../../../lib/payer.ts'
import { useTeams } from '../../../lib/places.ts'
import { read } from '../../../lib/query.ts'
import { SideDrawer } from '../../../ui/dialog/side-drawer.tsx'
import { ErrorView } from '../../../ui/page/error-view.tsx'
import { Panel } from '../../../ui/page/panel.tsx'
import styles from '../organisation.module.css'
import { PlaceTree } from './place-tree.tsx'
import { RaiseForm } from './raise-form.tsx'
import { Raises } from './raises.tsx'
import { texts } from './texts.ts'
import { type Place, placesOf } from './tree.ts'

const BudgetForm = lazy(async () => ({ default: (await import('../../../ui/budgets/budget-form.tsx')).BudgetForm }))
const MemberBudget = lazy(async () => ({ default: (await import('./member-budget.tsx')).MemberBudget }))

type Drawer =
  | { readonly kind: 'add'; readonly place: Place }
  | { readonly kind: 'edit'; readonly budget: OrganisationBudget }
  | { readonly kind: 'raise'; readonly budget: OrganisationBudget }
  | { readonly kind: 'member' }

const everyMs = 15_000

/** The budgets at every height as one tree, and the requests for greater ones. */
export function BudgetsTab({ payer }: { payer: Payer }) {
  const say = useText(texts)
  const teams = useTeams(payer.id)
  const found = useQuery({
    ...read('GET /api/organisation/:id/budgets', { params: { id: payer.id } }),
    refetchInterval: everyMs,
  })
  const [drawer, setDrawer] = useState<Drawer>()
  const close = () => setDrawer(undefined)
  const decides = managesAll(payer) || teams.some(({ may_manage }) => may_manage)
  const mayAsk = payer.role === 'member'
  return (
    <div className={styles.stack}>
      <Raises payer={payer} />
      <Panel
        title={say('title')}
        description={say('hint')}
        aside={
          decides && (
            <Button variant="default" leftSection={<IconPlus size={16} />} onClick={() => setDrawer({ kind: 'member' })}>
              {say('addForMember')}
            </Button>
          )
        }
      >
        {found.data ? (
          <PlaceTree
            root={placesOf({ organisation: payer, teams, budgets: found.data, managesAll: managesAll(payer) })}
            mayAsk={mayAsk}
            onAdd={(place) => setDrawer({ kind: 'add', place })}
            onEdit={(budget) => setDrawer({ kind: 'edit', budget })}
            onRaise={(budget) => setDrawer({ kind: 'raise', budget })}
          />
        ) : found.error ? (
          <ErrorView error={found.error} onRetry={() => void found.refetch()} />
        ) : (
          <Skeleton height={200} />
        )}
      </Panel>
      <SideDrawer subject={drawer} title={(shown) => titleOf(shown, say)} onClose={close}>
        {(shown) => <Form drawer={shown} payer={payer} onDone={close} />}
      </SideDrawer>
    </div>
  )
}

function titleOf(drawer: Drawer, say: ReturnType<typeof useText<keyof typeof texts>>): string {
  if (drawer.kind === 'member') return say('addForMember')
  if (drawer.kind === 'add') return say('addTo', { name: drawer.place.name })
  const name = drawer.budget.subject_name
  return say(drawer.kind === 'edit' ? 'editOf' : 'raiseTitle', { name })
}

function Form({ drawer, payer, onDone }: { drawer: Drawer; payer: Payer; onDone: () => void }) {
  if (drawer.kind === 'member') return <MemberBudget payer={payer} onDone={onDone} />
  if (drawer.kind === 'raise') return <RaiseForm payer={payer} budget={drawer.budget} onDone={onDone} />
  if (drawer.kind === 'edit') return <BudgetForm budget={drawer.budget} onDone={onDone} />
  const { scope, subject } = drawer.place
  const of: { scope: BudgetScope; subject: string } = { scope, subject }
  return <BudgetForm of={of} onDone={onDone} />
}
