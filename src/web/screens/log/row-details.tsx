import { logType } from '../../../contract/entities/log.ts'
import { formatCount, formatDuration } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { formatTime, timeZoneName } from '../../lib/times.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyText } from '../../ui/copy-text.tsx'
import { type Fact, Facts } from '../../ui/facts.tsx'
import { Notice } from '../../ui/notice.tsx'
import { BillTable } from './bill-table.tsx'
import { durationMs, failedAttempts, type LogRow, triedChannels } from './factors.ts'
import styles from './log.module.css'
import { texts } from './texts.ts'

/** Everything that a row knows: what happened, how it was charged and why, and the row itself. */
export function RowDetails({ row }: { row: LogRow }) {
  const say = useText(texts)
  const facts = useFacts(row)
  const isConsume = row.type === logType.consume
  return (
    <div className={styles.details}>
      <div className={styles.story}>
        <Facts facts={facts} />
        <Remarks row={row} />
        <Attempts row={row} />
        <RawRow row={row} />
      </div>
      {isConsume && (
        <section className={styles.billing}>
          <h2 className={styles.heading}>{say('bill')}</h2>
          <BillTable row={row} />
        </section>
      )}
    </div>
  )
}

function useFacts(row: LogRow): Fact[] {
  const say = useText(texts)
  const { factors } = row
  const duration = durationMs(row)
  const answering = duration - (factors.frt ?? 0)
  const facts: (Fact | false)[] = [
    {
      label: say('fullTime'),
      value: <span title={say('zone', { zone: timeZoneName() })}>{formatTime(row.created_at)}</span>,
    },
    row.request_id !== '' && { label: say('requestId'), value: <CopyText text={row.request_id} /> },
    row.channel > 0 && { label: say('channel'), value: `${row.channel} - ${row.channel_name || say('channelGone')}` },
    row.model_name !== '' && {
      label: say(factors.upstream_model_name ? 'requested' : 'model'),
      value: <CopyText text={row.model_name} />,
    },
    factors.upstream_model_name !== undefined && {
      label: say('actual'),
      value: <CopyText text={factors.upstream_model_name} />,
    },
    factors.reasoning_effort !== undefined && { label: say('effort'), value: factors.reasoning_effort },
    factors.reasoning_tokens !== undefined && { label: say('reasoningTokens'), value: formatCount(factors.reasoning_tokens) },
    row.type === logType.consume && { label: say('duration'), value: formatDuration(duration) },
    row.is_stream && factors.frt !== undefined && { label: say('firstToken'), value: formatDuration(factors.frt) },
    row.is_stream &&
      answering >= 100 &&
      row.completion_tokens > 1 && {
        label: say('speed'),
        value: say('perSecond', { count: formatCount(Number((row.completion_tokens / (answering / 1000)).toPrecision(3))) }),
      },
    factors.admin_info?.address !== undefined && { label: say('address'), value: factors.admin_info.address },
    row.type !== logType.consume && row.content !== '' && { label: say('detail'), value: row.content },
  ]
  return facts.filter((fact) => fact !== false)
}

function Remarks({ row }: { row: LogRow }) {
  const say = useText(texts)
  const { estimated, interrupted, unpriced } = row.factors
  return (
    <>
      {interrupted && (
        <Notice kind="warn" title={say('interrupted')}>
          {say(`interrupted${interrupted}`)}
        </Notice>
      )}
      {estimated && <Notice title={say('estimated')}>{say('estimatedHint')}</Notice>}
      {unpriced && (
        <Notice kind="warn" title={say('unpriced')}>
          {say('unpricedHint')}
        </Notice>
      )}
    </>
  )
}

/** Why channels before the answering one failed; only admins have it. */
function Attempts({ row }: { row: LogRow }) {
  const say = useText(texts)
  const attempts = failedAttempts(row.factors)
  if (attempts.length === 0) return null
  return (
    <section>
      <h2 className={styles.heading}>{say('attempts')}</h2>
      <ol className={styles.attempts}>
        {attempts.map(({ channel, reason, ms }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a chain never changes and its place names a try
          <li key={index}>{say('attempt', { channel, reason, time: formatDuration(ms) })}</li>
        ))}
        <li>{say('answeredBy', { channel: triedChannels(row.factors).at(-1) ?? '' })}</li>
      </ol>
    </section>
  )
}

function RawRow({ row: { factors, ...log } }: { row: LogRow }) {
  const say = useText(texts)
  const text = JSON.stringify({ ...log, other: Object.keys(factors).length > 0 ? factors : log.other }, null, 2)
  return (
    <details className={styles.raw}>
      <summary>{say('raw')}</summary>
      <CodeBlock>{text}</CodeBlock>
    </details>
  )
}
