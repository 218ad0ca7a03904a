import { Button } from '@mantine/core'
import { IconReceipt2 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { type AdminTopUp, paymentProviders, topUpStatus, topUpStatusLabels } from '../../../contract/entities/top-up.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { usePageSize } from '../../lib/page-size.ts'
import { read } from '../../lib/query.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { useFilteredEmpty } from '../../ui/filtered-empty.tsx'
import { type Filter, ListFilters } from '../../ui/list-filters.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { type Act, Actions } from './actions.tsx'
import { useColumns } from './columns.tsx'
import { texts } from './texts.ts'

const ActDialog = lazy(async () => ({ default: (await import('./act-dialog.tsx')).ActDialog }))

export function Screen() {
  const say = useText(texts)
  const size = usePageSize()
  const filters = useUrlState({ keyword: '', status: '', provider: '', page: 1 })
  const { page, ...asked } = filters.values
  const list = useQuery({
    ...read('GET /api/topup/', { query: { ...asked, p: page, page_size: size } }),
    placeholderData: (last) => last,
  })
  const [act, setAct] = useState<{ act: Act; order: AdminTopUp }>()
  const nothingMatches = useFilteredEmpty(filters.reset)
  const nothing = {
    title: say('emptyTitle'),
    hint: say('emptyHint'),
    icon: <IconReceipt2 />,
    action: (
      <Button component={Link} to="/setting?tab=system" variant="default">
        {say('emptyAction')}
      </Button>
    ),
  }

  return (
    <>
      <PageHeader title={say('title')} description={say('description')} />
      <DataTable
        label={say('title')}
        name="top-ups"
        columns={useColumns()}
        list={list}
        rowKey={({ id }) => id}
        page={page}
        onPage={(next) => filters.change({ page: next })}
        rowActions={(order) => <Actions order={order} onAct={(wanted) => setAct({ act: wanted, order })} />}
        isMuted={({ status }) => status === topUpStatus.failed || status === topUpStatus.expired}
        empty={filters.filtered || page > 1 ? nothingMatches : nothing}
        toolbar={<ListFilters filters={useFilters()} {...filters} onChange={filters.change} onReset={filters.reset} />}
      />
      {act && (
        <Suspense>
          <ActDialog {...act} onClose={() => setAct(undefined)} />
        </Suspense>
      )}
    </>
  )
}

function useFilters(): readonly Filter[] {
  const say = useText(texts)
  const local = useLocal()
  return [
    { kind: 'search', name: 'keyword', label: say('search'), width: 300 },
    {
      kind: 'select',
      name: 'status',
      label: say('statusFilter'),
      choices: Object.entries(topUpStatusLabels).map(([value, { label }]) => ({ value, label: local(label) })),
    },
    {
      kind: 'select',
      name: 'provider',
      label: say('providerFilter'),
      choices: Object.values(paymentProviders).map((value) => ({ value, label: say(value) })),
    },
  ]
}
