import { musicActionLabels, type Task } from '../../../contract/entities/task.ts'
import { useText } from '../../lib/i18n.ts'
import { timeZoneOffset } from '../../lib/times.ts'
import type { Column } from '../../ui/list/listing.ts'
import { CopyText } from '../../ui/view/copy-text.tsx'
import { Tag } from '../../ui/view/tag.tsx'
import { ChannelCell, CostCell, LabelTag, LongText, ProgressCell, SpentCell, StatusCell, TimeCell } from './cells.tsx'
import { clipsOf } from './clips.ts'
import { ResultCell } from './result.tsx'
import styles from './tasks.module.css'
import { texts } from './texts.ts'

/** Columns of the music; channel and user are for admins. */
export function useMusicColumns(isAdmin: boolean): readonly Column<Task>[] {
  const say = useText(texts)
  const all: (Column<Task> & { readonly admin?: true })[] = [
    {
      key: 'submitted',
      title: say('submitted', { zone: timeZoneOffset() }),
      sortKey: 'id',
      cell: (row) => <TimeCell seconds={row.submit_time} />,
    },
    {
      key: 'finished',
      title: say('finished'),
      hideable: true,
      cell: (row) => (row.finish_time > 0 ? <TimeCell seconds={row.finish_time} /> : null),
    },
    {
      key: 'progress',
      title: say('progress'),
      cell: (row) => (row.progress ? <ProgressCell progress={row.progress} status={row.status} /> : null),
    },
    {
      key: 'spent',
      title: say('spent'),
      hideable: true,
      cell: (row) => (row.finish_time > 0 ? <SpentCell seconds={row.finish_time - row.submit_time} /> : null),
    },
    { key: 'channel', title: say('channel'), admin: true, hideable: true, cell: (row) => <ChannelCell id={row.channel_id} /> },
    { key: 'user', title: say('user'), admin: true, hideable: true, cell: (row) => row.username },
    {
      key: 'platform',
      title: say('platform'),
      hideable: true,
      cell: (row) => (
        <Tag color={row.platform === 'suno' ? 'green' : 'gray'}>{row.platform === 'suno' ? 'Suno' : say('unknown')}</Tag>
      ),
    },
    { key: 'action', title: say('action'), cell: (row) => <LabelTag label={musicActionLabels[row.action]} fallback="" /> },
    {
      key: 'id',
      title: say('taskId'),
      heads: true,
      cell: (row) => (
        <CopyText text={row.task_id}>
          <span className={styles.id}>{row.task_id}</span>
        </CopyText>
      ),
    },
    { key: 'status', title: say('status'), cell: (row) => <StatusCell status={row.status} /> },
    { key: 'song', title: say('song'), cell: (row) => (clipsOf(row.data).length > 0 ? <ResultCell row={row} /> : null) },
    { key: 'cost', title: say('cost'), align: 'right', hideable: true, cell: (row) => <CostCell units={row.quota} /> },
    {
      key: 'prompt',
      title: say('prompt'),
      hideable: true,
      width: 104,
      cell: (row) => (row.properties.input ? <LongText title={say('prompt')} text={row.properties.input} /> : null),
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
