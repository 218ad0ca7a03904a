import { logType } from '../../../contract/entities/log.ts'
import { triedChannels } from '../../../contract/log-factors.ts'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { timeZoneOffset } from '../../lib/times.ts'
import type { Column } from '../../ui/list/listing.ts'
import {
  ChannelCell,
  CostCell,
  DetailCell,
  ModelCell,
  PromptCell,
  RetryCell,
  TimeCell,
  TimingCell,
  TokenCell,
  TypeCell,
} from './cells.tsx'
import type { LogRow } from './factors.ts'
import styles from './log.module.css'
import { texts } from './texts.ts'
import { UserCell } from './user-cell.tsx'

const isConsume = (row: LogRow): boolean => row.type === logType.consume
const isCall = (row: LogRow): boolean => isConsume(row) || row.failure !== undefined

/** Columns of the log; channel and retries are for admins. */
export function useColumns(isAdmin: boolean): readonly Column<LogRow>[] {
  const say = useText(texts)
  const all: (Column<LogRow> & { readonly admin?: true })[] = [
    {
      key: 'time',
      title: say('time', { zone: timeZoneOffset() }),
      sortKey: 'created_at',
      width: 108,
      cell: (row) => <TimeCell row={row} />,
    },
    {
      key: 'channel',
      title: say('channel'),
      admin: true,
      hideable: true,
      maxWidth: 112,
      cell: (row) => (row.channel > 0 ? <ChannelCell row={row} /> : null),
    },
    {
      key: 'user',
      title: say('user'),
      admin: true,
      hideable: true,
      maxWidth: 120,
      cell: (row) => (row.user_id > 0 ? <UserCell row={row} /> : null),
    },
    {
      key: 'token',
      title: say('token'),
      hideable: true,
      maxWidth: 176,
      cell: (row) => (row.token_name ? <TokenCell row={row} /> : null),
    },
    {
      key: 'group',
      title: say('group'),
      hideable: true,
      maxWidth: 120,
      cell: (row) => (row.group ? <span className={styles.clippedText}>{row.group}</span> : null),
    },
    { key: 'type', title: say('type'), hideable: true, cell: (row) => <TypeCell row={row} /> },
    {
      key: 'model',
      title: say('model'),
      maxWidth: 280,
      cell: (row) => (row.model_name ? <ModelCell row={row} /> : null),
    },
    {
      key: 'timing',
      title: say('timing'),
      hideable: true,
      cell: (row) => (isCall(row) ? <TimingCell row={row} /> : null),
    },
    {
      key: 'prompt',
      title: say('prompt'),
      align: 'right',
      hideable: true,
      cell: (row) => (isConsume(row) ? <PromptCell row={row} /> : null),
    },
    {
      key: 'completion',
      title: say('completion'),
      align: 'right',
      hideable: true,
      cell: (row) => (isConsume(row) ? <span className={styles.figure}>{formatCount(row.completion_tokens)}</span> : null),
    },
    {
      key: 'retry',
      title: say('retry'),
      admin: true,
      hideable: true,
      cell: (row) => (triedChannels(row.factors).length > 1 ? <RetryCell row={row} /> : null),
    },
    {
      key: 'details',
      title: say('details'),
      hideable: true,
      fill: true,
      spreads: (row) => !isConsume(row),
      width: 76,
      cell: (row) => <DetailCell row={row} />,
    },
    {
      key: 'cost',
      title: say('cost'),
      align: 'right',
      pinned: true,
      cell: (row) => (isConsume(row) || row.amount !== 0 ? <CostCell row={row} /> : null),
    },
  ]
  return all.filter(({ admin }) => isAdmin || !admin)
}
