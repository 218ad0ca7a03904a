import { type SiteCostSum, siteCostReasonLabels } from '../../../../contract/entities/site-cost.ts'
import { useLocal, useText } from '../../../lib/i18n.ts'
import { DataTable } from '../../../ui/list/data-table.tsx'
import { useList } from '../../../ui/list/list-rows.ts'
import type { Column } from '../../../ui/list/listing.ts'
import { Panel } from '../../../ui/page/panel.tsx'
import shared from '../../../ui/shared.module.css'
import { QuotaText } from '../../../ui/view/quota-text.tsx'
import styles from './runtime.module.css'
import { texts } from './texts.ts'

/** Upstream costs that no user was charged for, by reason and channel. */
export function SiteCostsPanel() {
  const say = useText(texts)
  return (
    <Panel title={say('siteCosts')} description={say('siteCostsHint')}>
      <DataTable
        label={say('siteCosts')}
        dense
        columns={useColumns()}
        {...useList('GET /api/system/site_cost', {})}
        rowKey={({ reason, channel_id }) => `${reason}:${channel_id}`}
        empty={{ title: say('siteCostsEmpty') }}
      />
    </Panel>
  )
}

function useColumns(): Column<SiteCostSum>[] {
  const say = useText(texts)
  const local = useLocal()
  const sumColumn = (key: 'last_24_hours' | 'last_30_days' | 'all'): Column<SiteCostSum> => ({
    key,
    title: say(key),
    align: 'right',
    cell: (row) => (
      <span className={styles.sum}>
        <QuotaText units={row[key].quota} />
        <small className={shared.note}>{say('requestCount', { count: row[key].count })}</small>
      </span>
    ),
  })
  return [
    {
      key: 'channel',
      title: say('channel'),
      heads: true,
      cell: ({ channel_id: id, channel_name: name }) => (name === '' ? `#${id}` : `${name} (#${id})`),
    },
    { key: 'reason', title: say('reason'), cell: ({ reason }) => local(siteCostReasonLabels[reason]) },
    sumColumn('last_24_hours'),
    sumColumn('last_30_days'),
    sumColumn('all'),
  ]
}
