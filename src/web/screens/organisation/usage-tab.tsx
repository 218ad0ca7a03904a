import { Anchor, Progress, SegmentedControl } from '@mantine/core'
import { IconChartBar } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { otherUsage, type UsageRow, type UsageSide, usageSides } from '../../../contract/entities/organisation-usage.ts'
import { formatCount, useQuotaFormat } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { type Payer, useMayCall } from '../../lib/payer.ts'
import { read } from '../../lib/query.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { startOfDay } from '../../lib/times.ts'
import { DataTable } from '../../ui/list/data-table.tsx'
import { FileButton } from '../../ui/list/list-file.tsx'
import { ListFilters } from '../../ui/list/list-filters.tsx'
import { loadingOf, usePages } from '../../ui/list/list-rows.ts'
import type { Column } from '../../ui/list/listing.ts'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import styles from './organisation.module.css'
import { texts } from './usage-texts.ts'

/** What the calls of the organisation have cost in some days, by team, member, token or model. */
export function UsageTab({ payer }: { payer: Payer }) {
  const say = useText(texts)
  const format = useQuotaFormat()
  const { values, change, reset, filtered } = useUrlState({ from: startOfDay(29), to: 0, by: 'team' })
  const { from, to } = values
  const by = usageSides.find((side) => side === values.by) ?? 'team'
  const asked = { params: { id: payer.id }, query: { from, to, by } }
  const found = useQuery({ ...read('GET /api/organisation/:id/usage', asked), placeholderData: (before) => before })
  const pages = usePages(found.data?.rows)
  const { calls = 0, cost = 0 } = found.data?.total ?? {}
  return (
    <div className={styles.stack}>
      <div className={styles.filters}>
        <SegmentedControl
          aria-label={say('by')}
          data={usageSides.map((value) => ({ value, label: say(value) }))}
          value={by}
          onChange={(next) => change({ by: next })}
        />
        <ListFilters
          filters={[{ kind: 'time', from: 'from', to: 'to', label: say('timeRange') }]}
          values={values}
          onChange={change}
          onReset={reset}
          filtered={filtered}
        />
      </div>
      <Panel
        title={say('title')}
        description={found.data && `${say('total', { calls, cost: format(cost) })} · ${say('hint')}`}
        aside={<FileButton line="GET /api/organisation/:id/usage.csv" name={`usage-by-${by}.csv`} {...asked} />}
      >
        <DataTable
          label={say('title')}
          dense
          {...loadingOf(found)}
          {...pages}
          rowKey={({ key }) => key}
          columns={useColumns({ by, from, to, cost })}
          empty={{ title: say('none'), hint: say('noneHint'), icon: <IconChartBar /> }}
        />
      </Panel>
    </div>
  )
}

interface Shown {
  readonly by: UsageSide
  readonly from: number
  readonly to: number
  /** The cost of all rows. */
  readonly cost: number
}

function useColumns({ by, from, to, cost: total }: Shown): Column<UsageRow>[] {
  const say = useText(texts)
  const nameOf = useNames(by)
  const logNames = { token: 'token_name', model: 'model_name' } as const
  const filter = by === 'token' || by === 'model' ? logNames[by] : undefined
  const mayOpen = useMayCall('GET /api/log/self')
  const count = (key: 'calls' | 'failed' | 'input_tokens' | 'output_tokens', title: string): Column<UsageRow> => ({
    ...{ key, title, align: 'right' },
    cell: (row) => formatCount(row[key]),
  })
  return [
    {
      ...{ key: 'name', title: say(by), heads: true, fill: true, width: 160 },
      cell: (row) =>
        filter && mayOpen && row.name !== '' ? (
          <Anchor size="sm" renderRoot={(props) => <Link {...props} to="/log" search={{ [filter]: row.name, from, to }} />}>
            {row.name}
          </Anchor>
        ) : (
          nameOf(row)
        ),
    },
    { key: 'share', title: say('share'), width: 140, cell: ({ cost }) => <Share part={total > 0 ? cost / total : 0} /> },
    { key: 'cost', title: say('cost'), align: 'right', inCard: 'figure', cell: ({ cost }) => <QuotaText units={cost} /> },
    { ...count('calls', say('calls')), inCard: 'figure' },
    count('failed', say('failed')),
    count('input_tokens', say('inputTokens')),
    count('output_tokens', say('outputTokens')),
  ]
}

function Share({ part }: { part: number }) {
  const percent = `${(part * 100).toFixed(1)}%`
  return (
    <span className={styles.share}>
      <Progress value={Math.max(0, part * 100)} aria-label={percent} />
      <span className={shared.figure}>{percent}</span>
    </span>
  )
}

/** Names for people; what does not exist any more is shown by its id. */
function useNames(by: UsageSide): (row: UsageRow) => string {
  const say = useText(texts)
  const nothing = { team: say('noTeam'), member: say('noMember'), token: say('noToken'), model: say('unknownModel') }
  return ({ key, name }) => {
    if (key === otherUsage) return say('others')
    if (name !== '') return name
    return key === '0' || key === '' ? nothing[by] : say('gone', { id: key })
  }
}
