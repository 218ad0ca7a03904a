import { Button, Group } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Budget, BudgetScope } from '../../../contract/entities/budget.ts'
import { useText } from '../../lib/i18n.ts'
import { usePageSize } from '../../lib/page-size.ts'
import { usePayer } from '../../lib/payer.ts'
import { read } from '../../lib/query.ts'
import { Dialog } from '../dialog/dialog.tsx'
import { SideDrawer } from '../dialog/side-drawer.tsx'
import { DataTable } from '../list/data-table.tsx'
import { loadingOf, useList, usePages } from '../list/list-rows.ts'
import type { TableRows } from '../list/listing.ts'
import shared from '../shared.module.css'
import { BudgetActions } from './budget-actions.tsx'
import { BudgetForm } from './budget-form.tsx'
import { useBudgetColumns } from './columns.tsx'
import { texts } from './texts.ts'

export interface BudgetsOf {
  readonly scope: BudgetScope
  readonly subject: string
  readonly name: string
}

/** The budgets of one user, group, token, model or channel, or the form of one of them. */
export function BudgetsDialog({ of, onClose }: { of: BudgetsOf; onClose: () => void }) {
  return usePayer() ? <OfOrganisation of={of} onClose={onClose} /> : <OfSite of={of} onClose={onClose} />
}

interface DialogProps {
  readonly of: BudgetsOf
  readonly onClose: () => void
}

function OfSite({ of, onClose }: DialogProps) {
  const { scope, subject } = of
  const [page, setPage] = useState(1)
  const list = useList('GET /api/budget/', { query: { scope, subject, p: page, page_size: usePageSize() } })
  return <Budgets of={of} list={{ ...list, page, onPage: setPage }} onClose={onClose} />
}

/** Of a token that an organisation pays for. */
function OfOrganisation({ of, onClose }: DialogProps) {
  const id = usePayer()?.id ?? 0
  const found = useQuery(read('GET /api/organisation/:id/budgets', { params: { id } }))
  const rows = found.data?.filter(({ scope, subject }) => scope === of.scope && subject === of.subject)
  return <Budgets of={of} list={{ ...loadingOf(found), ...usePages(rows) }} onClose={onClose} />
}

type BudgetList = TableRows<Budget> & { readonly page: number; readonly onPage: (page: number) => void }

function Budgets({ of, list, onClose }: DialogProps & { readonly list: BudgetList }) {
  const say = useText(texts)
  const { scope, subject, name } = of
  const [editing, setEditing] = useState<'new' | Budget>()
  const columns = useBudgetColumns({ withSubject: false })
  const title = say('title', { name })
  const toList = () => setEditing(undefined)
  if (editing !== undefined) {
    return (
      <SideDrawer subject={editing} title={(shown) => say(shown === 'new' ? 'addTo' : 'editOf', { name })} onClose={toList}>
        {(shown) => <BudgetForm budget={shown === 'new' ? undefined : shown} of={{ scope, subject }} onDone={toList} />}
      </SideDrawer>
    )
  }
  return (
    <Dialog title={title} size={900} onClose={onClose}>
      <p className={shared.intro}>{say('hint')}</p>
      <DataTable
        label={title}
        dense
        columns={columns}
        {...list}
        rowKey={({ id }) => id}
        rowActions={(budget) => <BudgetActions budget={budget} onEdit={() => setEditing(budget)} />}
        empty={{ title: say('none'), hint: say('noneHint') }}
      />
      <Group justify="flex-end" mt="sm">
        <Button leftSection={<IconPlus size={16} />} onClick={() => setEditing('new')}>
          {say('add')}
        </Button>
      </Group>
    </Dialog>
  )
}
