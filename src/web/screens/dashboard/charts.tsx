import { type PointerEvent, useState } from 'react'
import { barPaths, labelled, scaleOf, sumOf } from './bar-scale.ts'
import styles from './charts.module.css'
import { colorVariable, type Series, type Step } from './series.ts'

/** The charts. They are drawn at once, whatever the width; their figures are in tables beside them. */
export interface ChartProps {
  readonly label: string
  readonly series: readonly Series[]
  readonly nameOf: (key: string) => string
  readonly format: (value: number) => string
}

interface BarsProps extends ChartProps {
  readonly steps: readonly Step[]
  /** Values are whole numbers. */
  readonly isWhole: boolean
}

const labelsMax = 8

export function UsageBars({ label, series, nameOf, format, steps, isWhole }: BarsProps) {
  const [pointed, setPointed] = useState<number>()
  const { top, ticks } = scaleOf(Math.max(0, ...steps.map(sumOf)), isWhole)
  const paths = barPaths(
    steps,
    series.map(({ key }) => key),
    top,
  )
  const step = pointed === undefined ? undefined : steps[pointed]
  const middleOf = (index: number) => `${((index + 0.5) / steps.length) * 100}%`

  function point({ clientX, currentTarget }: PointerEvent<HTMLElement>): void {
    const { left, width } = currentTarget.getBoundingClientRect()
    setPointed(Math.min(steps.length - 1, Math.max(0, Math.floor(((clientX - left) / width) * steps.length))))
  }

  return (
    <div role="img" aria-label={label}>
      <div className={styles.frame}>
        {ticks.map((value) => (
          <div key={value} className={styles.line} style={{ bottom: `${(value / top) * 100}%` }}>
            <span>{format(value)}</span>
          </div>
        ))}
        {/* The pointer alone: the label and the table say the same. */}
        <div className={styles.plot} onPointerMove={point} onPointerDown={point} onPointerLeave={() => setPointed(undefined)}>
          {pointed !== undefined && (
            <div
              className={styles.column}
              style={{ left: `${(pointed / steps.length) * 100}%`, width: `${100 / steps.length}%` }}
            />
          )}
          <svg viewBox={`0 0 ${steps.length} 100`} preserveAspectRatio="none" aria-hidden="true">
            {series.map(({ id, color }, index) => (
              <path key={id} d={paths[index]} fill={colorVariable(color)} />
            ))}
          </svg>
          {step && pointed !== undefined && (
            <div className={styles.place} style={{ left: middleOf(pointed) }} data-after={pointed > steps.length / 2}>
              <StepTip step={step} series={series} nameOf={nameOf} format={format} />
            </div>
          )}
        </div>
      </div>
      <div className={styles.times}>
        {labelled(steps.length, labelsMax).map((index) => (
          <span key={index} style={{ left: middleOf(index) }}>
            {steps[index]?.label}
          </span>
        ))}
      </div>
      <div className={styles.legend}>
        {series.map(({ id, key, color }) => (
          <span key={id}>
            <span className={styles.dot} style={{ background: colorVariable(color) }} />
            {nameOf(key)}
          </span>
        ))}
      </div>
    </div>
  )
}

/** The largest first, with the sum on top; what is nothing is left out. */
function StepTip({ step, series, nameOf, format }: Omit<ChartProps, 'label'> & { step: Step }) {
  const rows = series
    .map((of) => ({ of, value: step.values.get(of.key) ?? 0 }))
    .filter(({ value }) => value > 0)
    .sort((one, other) => other.value - one.value)
  return (
    <div className={styles.tip}>
      <div className={styles.tipHead}>
        <span>{step.label}</span>
        <strong>{format(sumOf(step))}</strong>
      </div>
      {rows.map(({ of, value }) => (
        <div key={of.id} className={styles.tipRow}>
          <span className={styles.dot} style={{ background: colorVariable(of.color) }} />
          <span className={styles.tipName}>{nameOf(of.key)}</span>
          <span>{format(value)}</span>
        </div>
      ))}
    </div>
  )
}

const thickness = 14
/** Of the whole ring, between two parts. */
const gap = 0.4

export function ShareRing({ label, series, nameOf, format, values }: ChartProps & { values: ReadonlyMap<string, number> }) {
  const [pointed, setPointed] = useState<string>()
  const parts = partsOf(series, values)
  const part = parts.find(({ id }) => id === pointed)
  return (
    <div role="img" aria-label={label} className={styles.ring}>
      <svg viewBox="0 0 100 100" aria-hidden="true" onPointerLeave={() => setPointed(undefined)}>
        {parts.map(({ id, color, from, percent }) => (
          <circle
            key={id}
            cx={50}
            cy={50}
            r={50 - thickness / 2}
            pathLength={100}
            strokeWidth={thickness}
            stroke={colorVariable(color)}
            // A part that is all has no end to keep apart.
            strokeDasharray={percent > 99.9 ? undefined : `${Math.max(0.2, percent - gap)} 100`}
            strokeDashoffset={-from}
            data-pointed={id === pointed}
            onPointerEnter={() => setPointed(id)}
          />
        ))}
      </svg>
      {part && (
        <div className={styles.middle}>
          <span>{nameOf(part.key)}</span>
          <strong>{format(part.value)}</strong>
          <span>{part.percent.toFixed(1)}%</span>
        </div>
      )}
    </div>
  )
}

function partsOf(series: readonly Series[], values: ReadonlyMap<string, number>) {
  const sum = series.reduce((total, { key }) => total + (values.get(key) ?? 0), 0)
  let from = 0
  return series.flatMap((one) => {
    const value = values.get(one.key) ?? 0
    if (value <= 0) return []
    const percent = (value / sum) * 100
    const part = { ...one, value, percent, from }
    from += percent
    return [part]
  })
}
