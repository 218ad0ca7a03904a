import { type Drawing, drawingActionLabels, drawingCodeLabels } from '../../../contract/entities/task.ts'
import { useText } from '../../lib/i18n.ts'
import { timeZoneOffset } from '../../lib/times.ts'
import type { Column } from '../../ui/list/listing.ts'
import { CopyText } from '../../ui/view/copy-text.tsx'
import { ChannelCell, CostCell, LabelTag, LongText, ProgressCell, SpentCell, StatusCell, TimeCell } from './cells.tsx'
import { PictureCell } from './picture.tsx'
import styles from './tasks.module.css'
import { texts } from './texts.ts'

/** Columns of the drawings; channel, user and the upstream's reply are for admins. */
export function useDrawingColumns(isAdmin: boolean): readonly Column<Drawing>[] {
  const say = useText(texts)
  const all: (Column<Drawing> & { readonly admin?: true })[] = [
    {
      key: 'submitted',
      title: say('submitted', { zone: timeZoneOffset() }),
      sortKey: 'id',
      cell: (row) => <TimeCell seconds={Math.floor(row.submit_time / 1000)} />,
    },
    {
      key: 'spent',
      title: say('spent'),
      hideable: true,
      cell: (row) => (row.finish_time > 0 ? <SpentCell seconds={(row.finish_time - row.submit_time) / 1000} /> : null),
    },
    { key: 'channel', title: say('channel'), admin: true, hideable: true, cell: (row) => <ChannelCell id={row.channel_id} /> },
    { key: 'user', title: say('user'), admin: true, hideable: true, cell: (row) => row.username },
    {
      key: 'action',
      title: say('action'),
      cell: (row) => <LabelTag label={drawingActionLabels[row.action]} fallback="" />,
    },
    {
      key: 'id',
      title: say('taskId'),
      heads: true,
      cell: (row) => (
        <CopyText text={row.mj_id}>
          <span className={styles.id}>{row.mj_id}</span>
        </CopyText>
      ),
    },
    {
      key: 'result',
      title: say('result'),
      admin: true,
      hideable: true,
      cell: (row) => <LabelTag label={drawingCodeLabels[row.code]} fallback="" />,
    },
    { key: 'status', title: say('status'), hideable: true, cell: (row) => <StatusCell status={row.status} /> },
    {
      key: 'progress',
      title: say('progress'),
      cell: (row) => (row.progress ? <ProgressCell progress={row.progress} status={row.status} /> : null),
    },
    { key: 'picture', title: say('picture'), cell: (row) => (row.preview_url ? <PictureCell row={row} /> : null) },
    { key: 'cost', title: say('cost'), align: 'right', hideable: true, cell: (row) => <CostCell units={row.quota} /> },
    {
      key: 'prompt',
      title: say('prompt'),
      hideable: true,
      fill: true,
      width: 120,
      cell: (row) => (row.prompt ? <LongText title={say('prompt')} text={row.prompt} /> : null),
    },
    {
      key: 'prompt_en',
      title: say('promptEn'),
      hideable: true,
      hidden: true,
      width: 120,
      cell: (row) => (row.prompt_en ? <LongText title={say('promptEn')} text={row.prompt_en} /> : null),
    },
    {
      key: 'reason',
      title: say('reason'),
      hideable: true,
      width: 120,
      cell: (row) => (row.fail_reason ? <LongText title={say('reason')} text={row.fail_reason} /> : null),
    },
  ]
  return all.filter(({ admin }) => isAdmin || !admin)
}
