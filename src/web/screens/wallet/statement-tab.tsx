import { Button, Group } from '@mantine/core'
import { IconChevronLeft, IconChevronRight, IconListDetails } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type LedgerRow, ledgerKindLabels } from '../../../contract/entities/ledger-row.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { usePageSize } from '../../lib/page-size.ts'
import { read } from '../../lib/query.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { timeZoneName } from '../../lib/times.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { useFilteredEmpty } from '../../ui/filtered-empty.tsx'
import { FileButton } from '../../ui/list-file.tsx'
import { ListFilters } from '../../ui/list-filters.tsx'
import type { Column } from '../../ui/listing.ts'
import { QuotaText } from '../../ui/quota-text.tsx'
import { StatusTag } from '../../ui/status-tag.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { Explanation } from './explanation.tsx'
import { texts } from './texts.ts'
import styles from './wallet.module.css'

export function StatementTab() {
  const say = useText(texts)
  const size = usePageSize()
  const filters = useUrlState({ kind: '', before: 0 })
  const { kind, before } = filters.values
  const list = useQuery({
    ...read('GET /api/user/self/ledger', { query: { kind, before, page_size: size } }),
    placeholderData: (last) => last,
    select: (answer) => ({ ...answer, total: answer.items.length }),
  })
  const nothingMatches = useFilteredEmpty(filters.reset)
  const nothing = { title: say('statementEmpty'), hint: say('statementEmptyHint'), icon: <IconListDetails /> }
  const change = (patch: Record<string, unknown>) => filters.change({ before: 0, ...patch })

  return (
    <div className={styles.stack}>
      <div className={styles.top}>
        <p className={styles.quiet}>{say('statementHint', { zone: timeZoneName() })}</p>
        <FileButton line="GET /api/user/self/ledger.csv" name="statement.csv" query={{}} hint={say('statementCsv')} />
      </div>
      <DataTable
        label={say('statement')}
        name="statement"
        columns={useColumns()}
        list={list}
        rowKey={({ id }) => id}
        empty={kind === '' && before === 0 ? nothing : nothingMatches}
        toolbar={
          <ListFilters
            filters={[{ kind: 'select', name: 'kind', label: say('kindFilter'), choices: useKinds(), width: 200 }]}
            values={filters.values}
            onChange={change}
            onReset={filters.reset}
            filtered={kind !== ''}
          />
        }
      />
      <Paging before={before} next={list.data?.next ?? 0} onChange={(to) => filters.change({ before: to })} />
    </div>
  )
}

/** Pages follow each other by the last row of the one before, so that any depth is as fast as the first. */
function Paging({ before, next, onChange }: { before: number; next: number; onChange: (before: number) => void }) {
  const say = useText(texts)
  const [trail, setTrail] = useState<readonly number[]>([])
  if (before === 0 && next === 0) return null

  function older(): void {
    setTrail([...trail, before])
    onChange(next)
  }
  function newer(): void {
    setTrail(trail.slice(0, -1))
    onChange(trail.at(-1) ?? 0)
  }

  const look = { variant: 'default', size: 'compact-md' } as const
  return (
    <Group gap="xs" justify="flex-end">
      <Button {...look} disabled={before === 0} leftSection={<IconChevronLeft size={16} />} onClick={newer}>
        {say(trail.length > 0 ? 'newer' : 'newest')}
      </Button>
      <Button {...look} disabled={next === 0} rightSection={<IconChevronRight size={16} />} onClick={older}>
        {say('older')}
      </Button>
    </Group>
  )
}

function useKinds() {
  const local = useLocal()
  return Object.entries(ledgerKindLabels).map(([value, { label }]) => ({ value, label: local(label) }))
}

function useColumns(): Column<LedgerRow>[] {
  const say = useText(texts)
  return [
    { key: 'at', title: say('at'), width: 180, cell: ({ created_at: at }) => <TimeText seconds={at} /> },
    { key: 'kind', title: say('kind'), heads: true, cell: ({ kind }) => <StatusTag state={ledgerKindLabels[kind]} /> },
    { key: 'explanation', title: say('explanation'), fill: true, width: 260, cell: (row) => <Explanation row={row} /> },
    {
      key: 'change',
      title: say('change'),
      align: 'right',
      cell: ({ amount }) => (
        <span className={styles.change} data-gain={amount > 0}>
          {amount > 0 && '+'}
          <QuotaText units={amount} digits={6} />
        </span>
      ),
    },
    {
      key: 'balance',
      title: say('balanceAfter'),
      align: 'right',
      cell: ({ balance }) => (balance === null ? null : <QuotaText units={balance} digits={6} />),
    },
  ]
}
