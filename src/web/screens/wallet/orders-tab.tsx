import { IconReceipt2 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { TopUp } from '../../../contract/entities/top-up.ts'
import { useText } from '../../lib/i18n.ts'
import { usePageSize } from '../../lib/page-size.ts'
import { read } from '../../lib/query.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { CopyText } from '../../ui/copy-text.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import type { Column } from '../../ui/listing.ts'
import { formatMoney, OrderState, PaymentMethod } from '../../ui/order-parts.tsx'
import { QuotaText } from '../../ui/quota-text.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { texts } from './texts.ts'
import styles from './wallet.module.css'

export function OrdersTab() {
  const say = useText(texts)
  const size = usePageSize()
  const { values, change } = useUrlState({ page: 1 })
  const list = useQuery({
    ...read('GET /api/user/self/topups', { query: { p: values.page, page_size: size } }),
    placeholderData: (last) => last,
  })
  return (
    <DataTable
      label={say('orders')}
      columns={useColumns()}
      list={list}
      rowKey={({ id }) => id}
      page={values.page}
      onPage={(page) => change({ page })}
      empty={{ title: say('ordersEmpty'), hint: say('ordersEmptyHint'), icon: <IconReceipt2 /> }}
    />
  )
}

function useColumns(): Column<TopUp>[] {
  const say = useText(texts)
  return [
    {
      key: 'number',
      title: say('orderNo'),
      cell: ({ trade_no }) => (
        <CopyText text={trade_no}>
          <code className={styles.number}>{trade_no}</code>
        </CopyText>
      ),
    },
    { key: 'time', title: say('time'), cell: ({ created_time: at }) => <TimeText seconds={at} /> },
    { key: 'method', title: say('methodColumn'), cell: ({ method }) => <PaymentMethod method={method} /> },
    { key: 'quota', title: say('quota'), align: 'right', cell: ({ quota }) => <QuotaText units={quota} /> },
    {
      key: 'money',
      title: say('money'),
      align: 'right',
      cell: ({ money_minor, currency }) => <span className={styles.figure}>{formatMoney(money_minor, currency)}</span>,
    },
    { key: 'status', title: say('status'), cell: (order) => <OrderState order={order} /> },
    { key: 'completed', title: say('completed'), cell: ({ completed_time: at }) => <TimeText seconds={at} /> },
  ]
}
