import { Button } from '@mantine/core'
import { IconReceipt2 } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { type AdminTopUp, paymentProviders, topUpStatus, topUpStatusLabels } from '../../../contract/entities/top-up.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import type { Filter } from '../../ui/list/list-filters.tsx'
import { ListFrame } from '../../ui/list/list-frame.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { useListState } from '../../ui/list/list-state.ts'
import { Actions, type TopUpAction } from './actions.tsx'
import { useColumns } from './columns.tsx'
import { texts } from './texts.ts'

const ActionDialog = lazy(async () => ({ default: (await import('./action-dialog.tsx')).ActionDialog }))

export function Screen() {
  const say = useText(texts)
  const state = useListState({ keyword: '', status: '', provider: '' }, { sort: '-id' })
  const list = useList('GET /api/topup/', state)
  const [action, setAction] = useState<{ action: TopUpAction; order: AdminTopUp }>()

  return (
    <>
      <ListFrame
        name="top-ups"
        title={say('title')}
        description={say('description')}
        state={state}
        {...list}
        columns={useColumns()}
        filters={useFilters()}
        rowActions={(order) => <Actions order={order} onAction={(wanted) => setAction({ action: wanted, order })} />}
        file={{ line: 'GET /api/topup/export.csv', name: 'orders.csv', query: state.asked }}
        isMuted={({ status }) => status === topUpStatus.failed || status === topUpStatus.expired}
        empty={{
          title: say('emptyTitle'),
          hint: say('emptyHint'),
          icon: <IconReceipt2 />,
          action: (
            <Button component={Link} to="/setting?tab=system&section=payment" variant="default">
              {say('emptyAction')}
            </Button>
          ),
        }}
      />
      {action && (
        <Suspense>
          <ActionDialog {...action} onClose={() => setAction(undefined)} />
        </Suspense>
      )}
    </>
  )
}

function useFilters(): readonly Filter[] {
  const say = useText(texts)
  const local = useLocal()
  return [
    { kind: 'search', name: 'keyword', label: say('search'), width: 340 },
    {
      kind: 'select',
      name: 'status',
      label: say('status'),
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
