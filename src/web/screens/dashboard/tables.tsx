import type { UsageSums } from '../../../contract/entities/usage-sum.ts'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { Dot } from '../../ui/chart/dot.tsx'
import type { Series, Step } from '../../ui/chart/steps.ts'
import shared from '../../ui/shared.module.css'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import styles from './dashboard.module.css'
import { figureOf, type Metric } from './series.ts'
import { texts } from './texts.ts'

interface SharesProps {
  readonly sums: UsageSums
  readonly series: readonly Series[]
  readonly metric: Metric
  readonly nameOf: (key: string) => string
}

/** Every key with all of its metrics, and its share of the selected one. */
export function SharesTable({ sums, series, metric, nameOf }: SharesProps) {
  const say = useText(texts)
  const total = figureOf(sums.total, metric)
  return (
    // It scrolls separately, so it must be reachable by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls has to be reached by keyboard
    <section className={styles.scroll} tabIndex={0} aria-label={say('share')}>
      <table className={`${shared.table} ${styles.table}`} data-metric={metric}>
        <thead>
          <tr>
            <th scope="col">{say('name')}</th>
            <th scope="col">{say('share')}</th>
            <th scope="col" data-figure="quota">
              {say('quota')}
            </th>
            <th scope="col" data-figure="count">
              {say('count')}
            </th>
            <th scope="col" data-figure="tokens">
              {say('tokens')}
            </th>
          </tr>
        </thead>
        <tbody>
          {sums.keys.map((sum) => (
            <tr key={sum.key}>
              <td>
                <span className={styles.key}>
                  <Dot color={series.find(({ key }) => key === sum.key)?.color} />
                  {nameOf(sum.key)}
                </span>
              </td>
              <td>{total === 0 ? '–' : `${((figureOf(sum, metric) / total) * 100).toFixed(1)}%`}</td>
              <td data-figure="quota">
                <QuotaText units={sum.quota} />
              </td>
              <td data-figure="count">{formatCount(sum.count)}</td>
              <td data-figure="tokens">{formatCount(sum.token_used)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

interface StepsProps extends Omit<SharesProps, 'sums' | 'metric'> {
  readonly steps: readonly Step[]
  readonly format: (value: number) => string
  /** The exact figure. */
  readonly hint: (value: number) => string
}

/** The values of the bars, as a table. */
export function StepsTable({ series, steps, nameOf, format, hint }: StepsProps) {
  const say = useText(texts)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls has to be reached by keyboard
    <section className={styles.scroll} tabIndex={0} aria-label={say('distribution')}>
      <table className={`${shared.table} ${styles.table}`}>
        <thead>
          <tr>
            <th scope="col">{say('time')}</th>
            {series.map(({ id, key }) => (
              <th key={id} scope="col">
                {nameOf(key)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {steps.map(({ at, label, values }) => (
            <tr key={at}>
              <td>{label}</td>
              {series.map(({ id, key }) => {
                const value = values.get(key)
                return value === undefined ? (
                  <td key={id}>–</td>
                ) : (
                  <td key={id} title={hint(value)}>
                    {format(value)}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
