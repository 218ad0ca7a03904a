import '@mantine/core/styles/ColorSwatch.layer.css'
import '@mantine/charts/styles.layer.css'
import { BarChart, DonutChart } from '@mantine/charts'
import { useNarrow, useTight } from '../../lib/narrow.ts'
import styles from './dashboard.module.css'
import { roundSteps, roundTicks, type Series, type Step } from './series.ts'

/** The charts, in a file of their own: their library is loaded with them, and its figures are in tables beside them. */
interface ChartProps {
  readonly label: string
  readonly series: readonly Series[]
  readonly nameOf: (key: string) => string
  readonly format: (value: number) => string
}

interface BarsProps extends ChartProps {
  readonly steps: readonly Step[]
  /** The number of values in one unit of the axis, such as quota units per dollar. */
  readonly scale: number
  readonly formatTick: (value: number) => string
}

export function UsageBars({ label, series, nameOf, format, steps, scale, formatTick }: BarsProps) {
  const data = steps.map(({ label: time, values }) => ({
    time,
    ...Object.fromEntries(series.map(({ id, key }) => [id, values.get(key) ?? 0])),
  }))
  const sums = steps.map(({ values }) => sidesOf([...values.values()]))
  const [isNarrow, isTight] = [useNarrow(), useTight()]
  const most = isNarrow ? 3 : isTight ? 5 : 9
  const times = roundSteps(steps, most).map((step) => step.label)
  const ticks = roundTicks(
    Math.min(0, ...sums.map(({ below }) => below / scale)),
    Math.max(0, ...sums.map(({ above }) => above / scale)),
  ).map((tick) => tick * scale)
  return (
    <div role="img" aria-label={label} className={styles.bars}>
      <BarChart
        h={340}
        data={data}
        dataKey="time"
        type="stacked"
        series={series.map(({ id, key, color }) => ({ name: id, label: nameOf(key), color }))}
        valueFormatter={format}
        withLegend
        legendProps={{ verticalAlign: 'bottom' }}
        classNames={{ legend: styles.legend ?? '' }}
        yAxisProps={{ width: 72, ticks, domain: [ticks[0] ?? 0, ticks.at(-1) ?? 1], interval: 0, tickFormatter: formatTick }}
        xAxisProps={{ ticks: times, minTickGap: 8, interval: 'preserveStart' }}
        maxBarWidth={44}
        barProps={{ isAnimationActive: false }}
        barChartProps={{ accessibilityLayer: false, stackOffset: 'sign' }}
        tooltipAnimationDuration={0}
        tooltipProps={{
          content: ({ label: time, payload }) => (
            <BarTip time={String(time ?? '')} bars={payload ?? []} series={series} nameOf={nameOf} format={format} />
          ),
        }}
      />
    </div>
  )
}

/** The sums above and below zero. */
function sidesOf(values: readonly number[]) {
  const sum = (sign: 1 | -1) => values.filter((value) => value * sign > 0).reduce((all, value) => all + value, 0)
  return { above: sum(1), below: sum(-1) }
}

interface Tip extends Omit<ChartProps, 'label'> {
  readonly time: string
  readonly bars: readonly { readonly dataKey?: unknown; readonly value?: unknown }[]
}

/** The largest values first, with the sum on top; zeros are left out. */
function BarTip({ time, bars, series, nameOf, format }: Tip) {
  const rows = bars
    .map(({ dataKey, value }) => ({ of: series.find(({ id }) => id === dataKey), value: Number(value ?? 0) }))
    .filter(({ value }) => value !== 0)
    .sort((one, other) => other.value - one.value)
  return (
    <div className={styles.tip}>
      <div className={styles.tipHead}>
        <span>{time}</span>
        <strong>{format(rows.reduce((sum, { value }) => sum + value, 0))}</strong>
      </div>
      {rows.map(({ of, value }) => (
        <div key={of?.id} className={styles.tipRow}>
          <span className={styles.dot} style={{ background: colorVariable(of?.color ?? 'gray.5') }} />
          <span className={styles.tipName}>{nameOf(of?.key ?? '')}</span>
          <span>{format(value)}</span>
        </div>
      ))}
    </div>
  )
}

export function ShareRing({ label, series, nameOf, format, values }: ChartProps & { values: ReadonlyMap<string, number> }) {
  const data = series.map(({ key, color }) => ({ name: nameOf(key), value: values.get(key) ?? 0, color }))
  return (
    <div role="img" aria-label={label} className={styles.ring}>
      <DonutChart
        data={data.filter(({ value }) => value > 0)}
        size={190}
        thickness={26}
        paddingAngle={1}
        valueFormatter={format}
        tooltipDataSource="segment"
        pieProps={{ isAnimationActive: false }}
        pieChartProps={{ accessibilityLayer: false }}
      />
    </div>
  )
}

function colorVariable(color: string): string {
  return `var(--mantine-color-${color.replace('.', '-')})`
}
