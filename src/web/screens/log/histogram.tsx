import { Skeleton } from '@mantine/core'
import type { LogHistogram } from '../../../contract/entities/log.ts'
import { useText } from '../../lib/i18n.ts'
import { formatTime } from '../../lib/times.ts'
import { CallBars } from '../../ui/chart/call-bars.tsx'
import shared from '../../ui/shared.module.css'
import styles from './log.module.css'
import { texts } from './texts.ts'

interface HistogramProps {
  /** `undefined` while it loads. */
  readonly calls: LogHistogram | undefined
  readonly onSelect: (span: { readonly from: number; readonly to: number }) => void
}

const height = 104

/** Answered and failed calls of the list over its time, from which a shorter one is chosen. */
export function Histogram({ calls, onSelect }: HistogramProps) {
  const say = useText(texts)
  if (calls?.points.length === 0) return null
  return (
    <section className={styles.histogram} aria-label={say('callsOverTime')}>
      {calls ? (
        <CallBars label={say('callsOverTime')} height={height} calls={calls} onSelect={onSelect} />
      ) : (
        <Skeleton height={height} />
      )}
      {calls && calls.counted_from > 0 && (
        <p className={shared.note}>{say('countedFrom', { time: formatTime(calls.counted_from) })}</p>
      )}
    </section>
  )
}
