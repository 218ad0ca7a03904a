import { type Batch, batchDialects, batchStateLabels } from '../../../contract/entities/batch.ts'
import { formatCount } from '../../lib/format.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { timeZoneOffset } from '../../lib/times.ts'
import type { Column } from '../../ui/list/listing.ts'
import shared from '../../ui/shared.module.css'
import { Tag } from '../../ui/view/tag.tsx'
import { ChannelCell, CostCell, IdCell, LongText, ProgressCell, TimeCell } from './cells.tsx'
import { texts } from './texts.ts'

/** Columns of the batches; channel and user are for admins. */
export function useBatchColumns(isAdmin: boolean): readonly Column<Batch>[] {
  const say = useText(texts)
  const all: (Column<Batch> & { readonly admin?: true })[] = [
    {
      key: 'submitted',
      title: say('submitted', { zone: timeZoneOffset() }),
      cell: (row) => <TimeCell seconds={row.created_at} />,
    },
    {
      key: 'finished',
      title: say('finished'),
      hideable: true,
      hidden: true,
      cell: (row) => (row.ended_at > 0 ? <TimeCell seconds={row.ended_at} /> : null),
    },
    { key: 'channel', title: say('channel'), admin: true, hideable: true, cell: (row) => <ChannelCell id={row.channel_id} /> },
    { key: 'user', title: say('user'), admin: true, hideable: true, cell: (row) => row.username },
    { key: 'id', title: say('batchId'), heads: true, cell: (row) => <IdCell text={row.batch_id} /> },
    { key: 'dialect', title: say('platform'), hideable: true, cell: (row) => batchDialects[row.dialect] ?? row.dialect },
    { key: 'models', title: say('model'), hideable: true, width: 140, cell: (row) => row.models.join(', ') },
    { key: 'status', title: say('status'), cell: (row) => <BatchState state={row.state} /> },
    {
      key: 'progress',
      title: say('progress'),
      hideable: true,
      cell: (row) => (row.state === 'failed' ? null : <ProgressCell progress={percentOf(row)} status={statusOf(row)} />),
    },
    {
      key: 'requests',
      title: say('requests'),
      align: 'right',
      hideable: true,
      cell: ({ requests, done, failed }) => (
        <span className={shared.figure}>
          {say('requestsDone', { done: formatCount(done), failed: formatCount(failed), all: formatCount(requests) })}
        </span>
      ),
    },
    {
      key: 'held',
      title: say('held'),
      align: 'right',
      hideable: true,
      cell: (row) => (row.held > 0 ? <CostCell units={row.held} /> : null),
    },
    { key: 'cost', title: say('cost'), align: 'right', hideable: true, cell: (row) => <CostCell units={row.quota} /> },
    {
      key: 'results',
      title: say('resultFiles'),
      hideable: true,
      hidden: true,
      cell: (row) => [row.output_file, row.error_file].filter((id) => id !== '').map((id) => <IdCell key={id} text={id} />),
    },
    {
      key: 'reason',
      title: say('reason'),
      hideable: true,
      fill: true,
      width: 104,
      cell: (row) => (row.fail_reason ? <LongText title={say('reason')} text={row.fail_reason} /> : null),
    },
  ]
  return all.filter(({ admin }) => isAdmin || !admin)
}

function BatchState({ state }: { state: string }) {
  const local = useLocal()
  const label = batchStateLabels[state]
  return (
    <Tag dot color={label?.color ?? 'gray'}>
      {label ? local(label.label) : state}
    </Tag>
  )
}

function percentOf({ state, requests, done, failed }: Batch): string {
  if (state === 'settled' || state === 'ended') return '100%'
  return `${requests === 0 ? 0 : Math.floor(((done + failed) / requests) * 100)}%`
}

/** The status of a task by which the bar has its colour. */
function statusOf({ state }: Batch): string {
  return state === 'settled' ? 'SUCCESS' : 'IN_PROGRESS'
}
