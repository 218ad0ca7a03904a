import { logType } from '../../../contract/entities/log.ts'
import { triedChannels } from '../../../contract/log-factors.ts'
import { formatCount } from '../../lib/format.ts'
import shared from '../../ui/shared.module.css'
import { ChannelCell, CostCell, DetailCell, ModelCell, RetryCell, TimingCell, TypeCell } from './cells.tsx'
import type { LogRow } from './factors.ts'
import styles from './log.module.css'
import { UserCell } from './user-cell.tsx'

/** A row in a narrow window: model and cost, outcome, caller. */
export function LogCard({ row, isAdmin }: { row: LogRow; isAdmin: boolean }) {
  const isConsume = row.type === logType.consume
  return (
    <div className={styles.card}>
      <div className={styles.cardLine}>
        {isConsume ? <ModelCell row={row} /> : <TypeCell row={row} />}
        {row.failure && row.model_name !== '' && <ModelCell row={row} />}
        {(isConsume || row.amount !== 0) && (
          <strong className={styles.cardEnd}>
            <CostCell row={row} />
          </strong>
        )}
      </div>
      {isConsume && (
        <div className={styles.cardLine}>
          <TimingCell row={row} />
          <span className={`${styles.figure} ${styles.cardEnd}`}>
            {formatCount(row.prompt_tokens)} → {formatCount(row.completion_tokens)}
          </span>
        </div>
      )}
      <div className={styles.cardLine}>
        {isAdmin && row.channel > 0 && <ChannelCell row={row} />}
        {isAdmin && row.user_id > 0 && <UserCell row={row} />}
        {row.group && <span className={shared.note}>{row.group}</span>}
        {row.token_name && <span className={`${shared.note} ${styles.clippedText}`}>{row.token_name}</span>}
        {isAdmin && triedChannels(row.factors).length > 1 && <RetryCell row={row} />}
      </div>
      {(!isConsume ||
        row.factors.interrupted ||
        row.factors.usage_implausible ||
        row.factors.above_hold ||
        row.factors.undelivered ||
        row.factors.unpriced) && <DetailCell row={row} />}
    </div>
  )
}
