import { type Video, videoActionLabels } from '../../../contract/entities/task.ts'
import { useText } from '../../lib/i18n.ts'
import { timeZoneOffset } from '../../lib/times.ts'
import type { Column } from '../../ui/list/listing.ts'
import { useClipWords } from '../../ui/view/clip-words.ts'
import { CopyText } from '../../ui/view/copy-text.tsx'
import { Tag } from '../../ui/view/tag.tsx'
import { ChannelCell, CostCell, LabelTag, LongText, ProgressCell, SpentCell, StatusCell, TimeCell } from './cells.tsx'
import styles from './tasks.module.css'
import { texts } from './texts.ts'
import { VideoCell } from './video-cell.tsx'

/** Columns of the videos; channel and user are for admins. */
export function useVideoColumns(isAdmin: boolean): readonly Column<Video>[] {
  const say = useText(texts)
  const clipWords = useClipWords()
  const all: (Column<Video> & { readonly admin?: true })[] = [
    {
      key: 'submitted',
      title: say('submitted', { zone: timeZoneOffset() }),
      sortKey: 'id',
      cell: (row) => <TimeCell seconds={row.submit_time} />,
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
      key: 'id',
      title: say('taskId'),
      heads: true,
      cell: (row) => (
        <CopyText text={row.video_id}>
          <span className={styles.id}>{row.video_id}</span>
        </CopyText>
      ),
    },
    { key: 'model', title: say('model'), hideable: true, cell: (row) => row.model },
    {
      key: 'action',
      title: say('action'),
      hideable: true,
      hidden: true,
      cell: (row) => <LabelTag label={videoActionLabels[row.action]} fallback={row.action} />,
    },
    { key: 'ordered', title: say('ordered'), hideable: true, width: 176, cell: clipWords },
    { key: 'status', title: say('status'), cell: (row) => <StatusCell status={row.status} /> },
    {
      key: 'progress',
      title: say('progress'),
      hideable: true,
      cell: (row) => (row.progress ? <ProgressCell progress={row.progress} status={row.status} /> : null),
    },
    {
      key: 'clips',
      title: say('clips'),
      cell: (row) =>
        row.deleted ? <Tag color="gray">{say('deleted')}</Tag> : row.clips.length > 0 ? <VideoCell row={row} /> : null,
    },
    { key: 'cost', title: say('cost'), align: 'right', hideable: true, cell: (row) => <CostCell units={row.quota} /> },
    {
      key: 'refund',
      title: say('refund'),
      align: 'right',
      hideable: true,
      cell: (row) => (row.refund > 0 ? <CostCell units={row.refund} /> : null),
    },
    {
      key: 'prompt',
      title: say('prompt'),
      hideable: true,
      width: 104,
      cell: (row) => (row.prompt ? <LongText title={say('prompt')} text={row.prompt} /> : null),
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
