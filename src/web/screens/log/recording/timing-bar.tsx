import type { RecordedTiming, UpstreamExchange } from '../../../../contract/entities/recording.ts'
import { formatDuration } from '../../../lib/format.ts'
import { useText } from '../../../lib/i18n.ts'
import { tint } from '../../../ui/view/tag.tsx'
import styles from './recording.module.css'
import { texts } from './texts.ts'

interface Span {
  readonly label: string
  readonly ms: number
  readonly color: string
}

/** Where the time of a call went, as its caller met it. */
export function CallTiming({ timing }: { timing: RecordedTiming }) {
  const say = useText(texts)
  const { queue_ms: queue, hold_ms: hold, commit_ms: commit, first_byte_ms: first, duration_ms: total } = timing
  const begun = first < 0 ? total - commit : first
  return (
    <Bar
      total={total}
      spans={[
        { label: say('queue'), ms: queue, color: 'gray' },
        { label: say('hold'), ms: hold, color: 'violet' },
        { label: say('answer'), ms: begun - queue - hold, color: 'sluice' },
        { label: say('stream'), ms: total - begun - commit, color: 'green' },
        { label: say('commit'), ms: commit, color: 'orange' },
      ]}
    />
  )
}

/** The same for one exchange with a channel. */
export function ExchangeTiming({ exchange }: { exchange: UpstreamExchange }) {
  const say = useText(texts)
  const { started_ms: started, sent_ms: sent, head_ms: head, first_byte_ms: first, ended_ms: ended } = exchange
  // A step that did not happen has no duration.
  const moments = [started, sent, head, first, ended].map((_at, place, all) => Math.max(...all.slice(0, place + 1)))
  const since = (place: number) => (moments[place + 1] ?? 0) - (moments[place] ?? 0)
  return (
    <Bar
      total={since(0) + since(1) + since(2) + since(3)}
      spans={[
        { label: say('connect'), ms: since(0), color: 'gray' },
        { label: say('head'), ms: since(1), color: 'sluice' },
        { label: say('firstByte'), ms: since(2), color: 'violet' },
        { label: say('stream'), ms: since(3), color: 'green' },
      ]}
    />
  )
}

function Bar({ total, spans }: { total: number; spans: readonly Span[] }) {
  const say = useText(texts)
  const shown = spans.map((span) => ({ ...span, ms: Math.max(0, span.ms) }))
  return (
    <section aria-label={say('timing')}>
      <div className={styles.bar} aria-hidden="true">
        {shown.map(({ label, ms, color }) => (
          <span key={label} style={{ ...tint(color), flexGrow: ms }} />
        ))}
      </div>
      <ul className={styles.legend}>
        {shown.map(({ label, ms, color }) => (
          <li key={label} style={tint(color)}>
            <span className={styles.swatch} aria-hidden="true" />
            {label} <strong>{formatDuration(ms)}</strong>
          </li>
        ))}
        <li>{say('total', { time: formatDuration(total) })}</li>
      </ul>
    </section>
  )
}
