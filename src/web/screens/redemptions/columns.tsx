import { type Redemption, redemptionStatus, redemptionStatusLabels } from '../../../contract/entities/redemption.ts'
import { useText } from '../../lib/i18n.ts'
import { nowSeconds } from '../../lib/times.ts'
import type { Column } from '../../ui/list/listing.ts'
import shared from '../../ui/shared.module.css'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import { StatusTag } from '../../ui/view/status-tag.tsx'
import { Tag } from '../../ui/view/tag.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import { CodeCell } from './code-cell.tsx'
import { texts } from './texts.ts'

export function useColumns(): Column<Redemption>[] {
  const say = useText(texts)
  return [
    { key: 'id', title: say('id'), sortKey: 'id', width: 72, hideable: true, cell: ({ id }) => id },
    {
      key: 'name',
      title: say('name'),
      sortKey: 'name',
      heads: true,
      width: 120,
      cell: ({ name }) => <span className={shared.name}>{name}</span>,
    },
    { key: 'status', inCard: 'state', title: say('status'), cell: (code) => <Status code={code} /> },
    {
      key: 'quota',
      inCard: 'figure',
      title: say('quota'),
      sortKey: 'quota',
      align: 'right',
      cell: ({ quota }) => <QuotaText units={quota} />,
    },
    { key: 'key', title: say('key'), hideable: true, cell: (code) => <CodeCell code={code} /> },
    {
      key: 'created',
      title: say('created'),
      sortKey: 'created_time',
      hideable: true,
      cell: ({ created_time: at }) => <TimeText seconds={at} />,
    },
    {
      key: 'expires',
      inCard: 'figure',
      title: say('expires'),
      sortKey: 'expired_time',
      hideable: true,
      cell: ({ expired_time: at }) =>
        at === 0 ? <span className={shared.quiet}>{say('never')}</span> : <TimeText seconds={at} />,
    },
    {
      key: 'redeemed',
      title: say('redeemed'),
      sortKey: 'redeemed_time',
      hideable: true,
      hidden: true,
      cell: ({ redeemed_time: at }) => <TimeText seconds={at} />,
    },
    {
      key: 'usedBy',
      title: say('usedBy'),
      hideable: true,
      cell: (code) => <Person id={code.used_user_id} name={code.used_username} />,
    },
    {
      key: 'creator',
      title: say('creator'),
      hideable: true,
      hidden: true,
      cell: (code) => <Person id={code.user_id} name={code.username} />,
    },
  ]
}

/** A code that expired unused is shown as expired instead of unused. */
export function isExpired({ status, expired_time: at }: Redemption): boolean {
  return status === redemptionStatus.unused && at !== 0 && at <= nowSeconds()
}

function Status({ code }: { code: Redemption }) {
  const say = useText(texts)
  if (isExpired(code)) return <Tag color="orange">{say('expiredUnused')}</Tag>
  return <StatusTag state={redemptionStatusLabels[code.status]} />
}

function Person({ id, name }: { id: number; name: string }) {
  const say = useText(texts)
  if (id === 0) return <span className={shared.quiet}>{say('none')}</span>
  return (
    <span className={shared.nowrap}>
      {name || '—'} <small className={shared.quiet}>#{id}</small>
    </span>
  )
}
