import { IconListDetails } from '@tabler/icons-react'
import { type LedgerRow, ledgerKindLabels } from '../../../contract/entities/ledger-row.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { useKeyedState } from '../../lib/keyed-state.ts'
import { timeZoneName } from '../../lib/times.ts'
import { FileButton } from '../../ui/list/list-file.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { useListState } from '../../ui/list/list-state.ts'
import { ListTable } from '../../ui/list/list-table.tsx'
import type { Column } from '../../ui/list/listing.ts'
import shared from '../../ui/shared.module.css'
import { QuotaChange, QuotaText } from '../../ui/view/quota-text.tsx'
import { StatusTag } from '../../ui/view/status-tag.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import { Explanation } from './explanation.tsx'
import { texts } from './texts.ts'
import styles from './wallet.module.css'

export function StatementTab() {
  const say = useText(texts)
  const state = useListState({ kind: '' }, { sort: '-id' })
  /** No rows are left out between two, so each has its balance. */
  const isWhole = state.asked.kind === '' && state.sort?.key === 'id'
  return (
    <div className={styles.stack}>
      <div className={`${shared.spread} ${styles.top}`}>
        <p className={shared.hint}>{say('statementHint', { zone: timeZoneName() })}</p>
        <FileButton line="GET /api/user/self/ledger.csv" name="statement.csv" query={{ ...state.asked, ...state.order }} />
      </div>
      <ListTable
        label={say('statement')}
        name="statement"
        state={state}
        {...useStatement(state.query)}
        columns={useColumns(isWhole)}
        filters={[{ kind: 'select', name: 'kind', label: say('kind'), choices: useKinds(), width: 200 }]}
        empty={{ title: say('statementEmpty'), hint: say('statementEmptyHint'), icon: <IconListDetails /> }}
      />
    </div>
  )
}

interface Asked {
  readonly kind: string
  readonly sort: string
  readonly p: number
  readonly page_size: number
}

/** A page after a page that was seen continues from its last row, so every page is equally fast. */
function useStatement(query: Asked) {
  const { p: page, page_size, ...filter } = query
  const places = useKeyedState(JSON.stringify([filter, page_size]), () => new Map<number, number>())
  const list = useList('GET /api/user/self/ledger', { query: { ...query, before: places.get(page) ?? 0 } })
  const { rows = [], data, isPrevious } = list
  const next = data?.next ?? 0
  if (next > 0 && !isPrevious) places.set(page + 1, next)
  // The total is unknown: at least one more if there is a next page.
  return { ...list, total: (page - 1) * page_size + rows.length + (next > 0 ? 1 : 0), totalAtLeast: next > 0 }
}

function useKinds() {
  const local = useLocal()
  return Object.entries(ledgerKindLabels).map(([value, { label }]) => ({ value, label: local(label) }))
}

function useColumns(withBalance: boolean): Column<LedgerRow>[] {
  const say = useText(texts)
  const columns: Column<LedgerRow>[] = [
    { key: 'at', title: say('at'), sortKey: 'id', width: 180, cell: ({ created_at: at }) => <TimeText seconds={at} /> },
    { key: 'kind', title: say('kind'), heads: true, cell: ({ kind }) => <StatusTag state={ledgerKindLabels[kind]} /> },
    {
      key: 'explanation',
      title: say('explanation'),
      hideable: true,
      fill: true,
      width: 260,
      cell: (row) => <Explanation row={row} />,
    },
    {
      key: 'change',
      inCard: 'figure',
      title: say('change'),
      sortKey: 'amount',
      align: 'right',
      cell: ({ amount }) => <QuotaChange units={amount} />,
    },
  ]
  if (withBalance)
    columns.push({
      key: 'balance',
      inCard: 'figure',
      title: say('balanceAfter'),
      hideable: true,
      align: 'right',
      cell: ({ balance }) => (balance === null ? null : <QuotaText units={balance} />),
    })
  return columns
}
