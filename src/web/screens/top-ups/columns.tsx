import type { AdminTopUp } from '../../../contract/entities/top-up.ts'
import { useText } from '../../lib/i18n.ts'
import type { Column } from '../../ui/list/listing.ts'
import shared from '../../ui/shared.module.css'
import { CopyText } from '../../ui/view/copy-text.tsx'
import { formatMoney, OrderState, PaymentMethod } from '../../ui/view/order-parts.tsx'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import { texts } from './texts.ts'

export function useColumns(): Column<AdminTopUp>[] {
  const say = useText(texts)
  return [
    { key: 'number', title: say('number'), heads: true, cell: ({ trade_no: number }) => <OrderNumber number={number} /> },
    {
      key: 'user',
      title: say('user'),
      cell: ({ username, user_id }) => (
        <span className={shared.nowrap}>
          {username || '—'} <small className={shared.quiet}>#{user_id}</small>
        </span>
      ),
    },
    { key: 'status', inCard: 'state', title: say('status'), cell: (order) => <OrderState order={order} /> },
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
    { key: 'method', title: say('method'), hideable: true, cell: ({ method }) => <PaymentMethod method={method} /> },
    { key: 'time', title: say('time'), sortKey: 'id', hideable: true, cell: ({ created_time: at }) => <TimeText seconds={at} /> },
    {
      key: 'completed',
      title: say('completed'),
      sortKey: 'completed_time',
      hideable: true,
      hidden: true,
      cell: ({ completed_time: at }) => <TimeText seconds={at} />,
    },
    {
      key: 'providerId',
      title: say('providerId'),
      hideable: true,
      hidden: true,
      cell: ({ provider_id: number }) => (number === '' ? null : <OrderNumber number={number} />),
    },
  ]
}

function OrderNumber({ number }: { number: string }) {
  return (
    <CopyText text={number}>
      <code className={shared.reference}>{number}</code>
    </CopyText>
  )
}
