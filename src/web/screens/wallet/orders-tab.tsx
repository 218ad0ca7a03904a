import { Button } from '@mantine/core'
import { IconReceipt2 } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { type TopUp, topUpStatusLabels } from '../../../contract/entities/top-up.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { timeZoneName } from '../../lib/times.ts'
import { FileButton } from '../../ui/list/list-file.tsx'
import type { Filter } from '../../ui/list/list-filters.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { useListState } from '../../ui/list/list-state.ts'
import { ListTable } from '../../ui/list/list-table.tsx'
import type { Column } from '../../ui/list/listing.ts'
import shared from '../../ui/shared.module.css'
import { CopyText } from '../../ui/view/copy-text.tsx'
import { formatMoney, OrderState, PaymentMethod } from '../../ui/view/order-parts.tsx'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import { texts } from './texts.ts'
import styles from './wallet.module.css'

export function OrdersTab() {
  const say = useText(texts)
  const state = useListState({ keyword: '', status: '' }, { sort: '-id' })
  const list = useList('GET /api/user/self/topups', state)
  return (
    <div className={styles.stack}>
      <div className={`${shared.spread} ${styles.top}`}>
        <p className={shared.hint}>{say('ordersHint', { zone: timeZoneName() })}</p>
        <FileButton line="GET /api/user/self/topups.csv" name="orders.csv" query={state.asked} />
      </div>
      <ListTable
        label={say('orders')}
        name="orders"
        state={state}
        {...list}
        columns={useColumns()}
        filters={useFilters()}
        empty={{
          title: say('ordersEmpty'),
          hint: say('ordersEmptyHint'),
          icon: <IconReceipt2 />,
          action: (
            <Button component={Link} to="/topup">
              {say('tabTopUp')}
            </Button>
          ),
        }}
      />
    </div>
  )
}

function useFilters(): readonly Filter[] {
  const say = useText(texts)
  const local = useLocal()
  return [
    { kind: 'search', name: 'keyword', label: say('orderNo') },
    {
      kind: 'select',
      name: 'status',
      label: say('status'),
      choices: Object.entries(topUpStatusLabels).map(([value, { label }]) => ({ value, label: local(label) })),
    },
  ]
}

function useColumns(): Column<TopUp>[] {
  const say = useText(texts)
  return [
    {
      key: 'number',
      title: say('orderNo'),
      heads: true,
      cell: ({ trade_no }) => (
        <CopyText text={trade_no}>
          <code className={shared.reference}>{trade_no}</code>
        </CopyText>
      ),
    },
    { key: 'time', title: say('time'), sortKey: 'id', hideable: true, cell: ({ created_time: at }) => <TimeText seconds={at} /> },
    {
      key: 'method',
      title: say('methodColumn'),
      hideable: true,
      cell: ({ method }) => <PaymentMethod method={method} />,
    },
    {
      key: 'quota',
      inCard: 'figure',
      title: say('quota'),
      sortKey: 'quota',
      align: 'right',
      cell: ({ quota }) => <QuotaText units={quota} />,
    },
    {
      key: 'money',
      inCard: 'figure',
      title: say('money'),
      sortKey: 'money_minor',
      align: 'right',
      cell: ({ money_minor, currency }) => <span className={shared.figure}>{formatMoney(money_minor, currency)}</span>,
    },
    { key: 'status', inCard: 'state', title: say('status'), cell: (order) => <OrderState order={order} /> },
    {
      key: 'completed',
      title: say('completed'),
      sortKey: 'completed_time',
      hideable: true,
      cell: ({ completed_time: at }) => <TimeText seconds={at} />,
    },
  ]
}
