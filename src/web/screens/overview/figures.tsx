import { Tooltip } from '@mantine/core'
import type { CallFigures, Overview } from '../../../contract/entities/call-statistics.ts'
import { formatNumber } from '../../../contract/quota.ts'
import { formatCount, formatDuration, useQuotaFormat } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import styles from './overview.module.css'
import { SparkLine } from './spark-line.tsx'
import { texts } from './texts.ts'

type Name = keyof CallFigures

interface Figure {
  readonly name: Name
  readonly label: string
  readonly hint?: string
  readonly format: (value: number) => string
  /** Whether more is good, bad, or neither. */
  readonly more: 'good' | 'bad' | 'neutral'
  /** It grows with the length of the period. */
  readonly isSum?: true
}

/** The figures of a period, each with its change and a line. */
export function Figures({ overview }: { overview: Overview }) {
  return (
    <div className={styles.figures}>
      {useFigures().map((figure) => (
        <FigureCard key={figure.name} figure={figure} overview={overview} />
      ))}
    </div>
  )
}

function useFigures(): Figure[] {
  const say = useText(texts)
  const formatQuota = useQuotaFormat()
  const rate = (value: number) => formatNumber(Math.round(value * 10) / 10)
  return [
    { name: 'requests', label: say('requests'), format: formatCount, more: 'neutral', isSum: true },
    { name: 'success', label: say('success'), hint: say('successHint'), format: percent, more: 'good' },
    { name: 'p50_ms', label: say('p50'), format: formatDuration, more: 'bad' },
    { name: 'p95_ms', label: say('p95'), format: formatDuration, more: 'bad' },
    { name: 'first_p50_ms', label: say('first'), format: formatDuration, more: 'bad' },
    { name: 'tokens_per_second', label: say('speed'), format: rate, more: 'good' },
    { name: 'quota', label: say('spend'), hint: say('spendHint'), format: formatQuota, more: 'neutral', isSum: true },
  ]
}

function FigureCard({ figure, overview }: { figure: Figure; overview: Overview }) {
  const say = useText(texts)
  const { name, label, hint, format } = figure
  const value = overview.current[name]
  const title = <span className={styles.label}>{label}</span>
  return (
    <section className={styles.figure} aria-label={label}>
      {hint ? (
        <Tooltip label={hint} multiline maw={320}>
          {title}
        </Tooltip>
      ) : (
        title
      )}
      <span className={styles.value}>{value === null ? '–' : format(value)}</span>
      <Change figure={figure} overview={overview} />
      <SparkLine label={say('line', { name: label })} values={lineOf(overview, figure)} />
    </section>
  )
}

/** Against the period before; sums are compared by the minute, since the current period may be some minutes longer. */
function Change({ figure, overview }: { figure: Figure; overview: Overview }) {
  const say = useText(texts)
  const { name, format, more, isSum } = figure
  const { current, before } = overview
  const [value, old] = [current[name], before[name]]
  if (value === null) return <span className={styles.change}>&nbsp;</span>
  if (old === null || (isSum && old === 0)) return <span className={styles.change}>{say('newFigure')}</span>
  const ratio = isSum ? value / current.seconds / (old / before.seconds) : value / old
  const isShare = name === 'success'
  const change = isShare ? (value - old) * 100 : (ratio - 1) * 100
  const size = Math.abs(change) >= 100 ? Math.round(Math.abs(change)) : Math.round(Math.abs(change) * 10) / 10
  const text = isShare ? say('points', { value: size }) : `${formatCount(size)}%`
  const mood = more === 'neutral' || size === 0 ? 'neutral' : change > 0 === (more === 'good') ? 'good' : 'bad'
  return (
    <span className={styles.change} data-mood={mood} title={say('before', { value: format(old) })}>
      {size === 0 ? say('same') : say(change > 0 ? 'more' : 'less', { value: text })}
    </span>
  )
}

/** A time without calls is a zero for sums, and no value for all others. */
function lineOf({ points, from, to, step_seconds: step }: Overview, { name, isSum }: Figure): (number | null)[] {
  const known = new Map(points.map((point) => [point.at, point[name]]))
  const first = Math.floor(from / step) * step
  const count = Math.floor((to - first) / step) + 1
  return Array.from({ length: count }, (_, index) => known.get(first + index * step) ?? (isSum ? 0 : null))
}

/** 99.95%: two decimals where they matter. */
export function percent(share: number): string {
  const value = share * 100
  return `${value === 100 ? '100' : value >= 99 ? (Math.floor(value * 100) / 100).toFixed(2) : value.toFixed(1)}%`
}
