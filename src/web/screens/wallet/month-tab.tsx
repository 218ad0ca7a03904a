import { Button, Group, Select, Skeleton } from '@mantine/core'
import { IconPrinter } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { ledgerKindLabels } from '../../../contract/entities/ledger-row.ts'
import type { MonthlyStatement } from '../../../contract/entities/monthly-statement.ts'
import { formatCount, useExactQuota } from '../../lib/format.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { usePayer } from '../../lib/payer.ts'
import { read } from '../../lib/query.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { FileButton } from '../../ui/list/list-file.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import styles from './month.module.css'
import { texts } from './texts.ts'

const monthsOffered = 24

/** What a month has changed of the balance of the organisation, as a page to print. */
export function MonthTab() {
  const say = useText(texts)
  const [current = ''] = lastMonths(1)
  const { values, change } = useUrlState({ month: current })
  const { month } = values
  const found = useQuery(read('GET /api/user/self/statement', { query: { month } }))
  return (
    <div className={styles.page}>
      <div className={`${shared.spread} ${styles.tools}`}>
        <Select
          label={say('month')}
          data={lastMonths(monthsOffered)}
          value={month}
          onChange={(next) => change({ month: next ?? current })}
          allowDeselect={false}
        />
        <Group gap="xs">
          <FileButton line="GET /api/user/self/statement.csv" name={`statement-${month}.csv`} query={{ month }} />
          <Button variant="default" leftSection={<IconPrinter size={16} />} onClick={() => window.print()}>
            {say('print')}
          </Button>
        </Group>
      </div>
      {found.data ? (
        <Month statement={found.data} />
      ) : found.error ? (
        <ErrorView error={found.error} onRetry={() => void found.refetch()} />
      ) : (
        <Skeleton height={240} />
      )}
    </div>
  )
}

function Month({ statement }: { statement: MonthlyStatement }) {
  const say = useText(texts)
  const local = useLocal()
  const exact = useExactQuota()
  const { month, time_zone: zone, opening, credits, charges, closing } = statement
  const name = usePayer()?.name ?? ''
  const charged = charges.reduce((sum, { amount }) => sum + amount, 0)
  const calls = charges.reduce((sum, { count }) => sum + count, 0)
  return (
    <Panel title={say('monthTitle', { name, month })} description={say('monthHint', { zone })}>
      <table className={`${shared.table} ${styles.lines}`}>
        <thead>
          <tr>
            <th scope="col">{say('line')}</th>
            <th scope="col">{say('calls')}</th>
            <th scope="col">{say('change')}</th>
          </tr>
        </thead>
        <tbody>
          <Line name={say('opening')} amount={exact(opening)} isSum />
          {credits.map(({ kind, count, amount }) => {
            const label = ledgerKindLabels[kind]?.label
            return <Line key={kind} name={label ? local(label) : kind} count={count} amount={exact(amount)} />
          })}
          {charges.map(({ team_id, team, model, count, amount }) => (
            <Line
              key={`${team_id} ${model}`}
              name={`${team || say('noTeam')} · ${model || say('modelUnknown')}`}
              count={count}
              amount={exact(amount)}
            />
          ))}
          {charges.length > 1 && <Line name={say('charges')} count={calls} amount={exact(charged)} isSum />}
          <Line name={say('closing')} amount={exact(closing)} isSum />
        </tbody>
      </table>
    </Panel>
  )
}

interface LineProps {
  readonly name: string
  readonly count?: number
  readonly amount: string
  readonly isSum?: true
}

function Line({ name, count, amount, isSum }: LineProps) {
  return (
    <tr data-sum={isSum}>
      <th scope="row">{name}</th>
      <td>{count === undefined ? '' : formatCount(count)}</td>
      <td>{amount}</td>
    </tr>
  )
}

/** `2026-11`, and the months before it. */
function lastMonths(count: number): string[] {
  const now = new Date()
  return Array.from({ length: count }, (_, back) => {
    const first = new Date(now.getFullYear(), now.getMonth() - back, 1)
    return `${first.getFullYear()}-${String(first.getMonth() + 1).padStart(2, '0')}`
  })
}
