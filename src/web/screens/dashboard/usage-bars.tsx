import { useElementSize } from '@mantine/hooks'
import { memo, type PointerEvent, useMemo, useState } from 'react'
import { barPath, columnAt, layoutOf, linePath, type Plot } from './bars.ts'
import styles from './dashboard.module.css'
import { colorOf, type Series, type Step, sumOf } from './series.ts'

interface UsageBarsProps {
  readonly label: string
  readonly series: readonly Series[]
  readonly steps: readonly Step[]
  /** The sums of the same number of steps before, drawn as a line; `undefined` while they load. */
  readonly before: readonly number[] | undefined
  readonly beforeLabel: string
  readonly nameOf: (key: string) => string
  readonly format: (value: number) => string
  /** The number of values in one unit of the axis, such as quota units per dollar. */
  readonly scale: number
  readonly formatTick: (value: number) => string
}

/**
 * Stacked bars: one path for each series, however many bars it has, so that a year is drawn as fast as a day. A click in the legend shows
 * one series alone.
 */
export function UsageBars({ label, series, steps, before, beforeLabel, nameOf, format, scale, formatTick }: UsageBarsProps) {
  const { ref, width } = useElementSize()
  const [alone, setAlone] = useState<string>()
  const [at, setAt] = useState<number>()
  const shown = useMemo(
    () => (series.some(({ key }) => key === alone) ? series.filter(({ key }) => key === alone) : series),
    [series, alone],
  )
  const line = shown === series ? before : undefined
  const plot = useMemo(
    () => layoutOf({ width, steps, series: shown, line, scale, formatTick }),
    [width, steps, shown, line, scale, formatTick],
  )
  const step = at === undefined ? undefined : steps[at]
  const follow = (event: PointerEvent<SVGSVGElement>) =>
    setAt(columnAt(plot, event.clientX - event.currentTarget.getBoundingClientRect().left))

  return (
    <div className={styles.bars}>
      <div ref={ref} className={styles.plot}>
        <svg
          role="img"
          aria-label={label}
          width={plot.width}
          height={plot.height}
          onPointerMove={follow}
          onPointerLeave={() => setAt(undefined)}
        >
          <Marks plot={plot} />
          {step && at !== undefined && (
            <rect x={plot.left + at * plot.band} y={plot.top} width={plot.band} height={plot.inner} className={styles.column} />
          )}
        </svg>
        {step && at !== undefined && (
          <Tip
            step={step}
            series={shown}
            before={line?.[at]}
            beforeLabel={beforeLabel}
            nameOf={nameOf}
            format={format}
            place={{ x: plot.left + (at + 0.5) * plot.band, width: plot.width }}
          />
        )}
      </div>
      <ul className={styles.legend}>
        {series.map(({ id, key, color }) => (
          <li key={id}>
            <button
              type="button"
              className={styles.entry}
              aria-pressed={alone === key}
              data-muted={shown !== series && alone !== key}
              onClick={() => setAlone(alone === key ? undefined : key)}
            >
              <span className={styles.dot} style={{ background: colorOf(color) }} />
              {nameOf(key)}
            </button>
          </li>
        ))}
        {line && (
          <li className={styles.entry}>
            <span className={styles.dash} />
            {beforeLabel}
          </li>
        )}
      </ul>
    </div>
  )
}

/** Everything that stays while the pointer moves. */
const Marks = memo(({ plot }: { plot: Plot }) => (
  <>
    {plot.ticks.map(({ y, text }) => (
      <g key={y}>
        <line x1={plot.left} x2={plot.width} y1={y} y2={y} className={styles.grid} />
        <text x={plot.left - 8} y={y} className={styles.tick} textAnchor="end" dominantBaseline="middle">
          {text}
        </text>
      </g>
    ))}
    {plot.times.map(({ x, text }) => (
      <text key={x} x={x} y={plot.height - 6} className={styles.tick} textAnchor="middle">
        {text}
      </text>
    ))}
    {plot.columns.map(({ id, color, bars }) => (
      <path key={id} d={barPath(bars)} fill={colorOf(color)} />
    ))}
    {plot.line && <path d={linePath(plot.line)} className={styles.before} />}
  </>
))

interface TipProps extends Pick<UsageBarsProps, 'series' | 'beforeLabel' | 'nameOf' | 'format'> {
  readonly step: Step
  readonly before: number | undefined
  readonly place: { readonly x: number; readonly width: number }
}

/** The largest values first, with the sum on top; zeros are left out. It stands on the side that has more room. */
function Tip({ step, series, before, beforeLabel, nameOf, format, place: { x, width } }: TipProps) {
  const rows = series
    .map((each) => ({ ...each, value: step.values.get(each.key) ?? 0 }))
    .filter(({ value }) => value !== 0)
    .sort((one, other) => other.value - one.value)
  const side = x < width / 2 ? { left: x + 12 } : { right: width - x + 12 }
  return (
    <div className={styles.tip} style={side}>
      <div className={styles.tipHead}>
        <span>{step.label}</span>
        <strong>{format(sumOf(step, series))}</strong>
      </div>
      {rows.map(({ id, key, color, value }) => (
        <div key={id} className={styles.tipRow}>
          <span className={styles.dot} style={{ background: colorOf(color) }} />
          <span className={styles.tipName}>{nameOf(key)}</span>
          <span>{format(value)}</span>
        </div>
      ))}
      {before !== undefined && (
        <div className={styles.tipRow}>
          <span className={styles.dash} />
          <span className={styles.tipName}>{beforeLabel}</span>
          <span>{format(before)}</span>
        </div>
      )}
    </div>
  )
}
