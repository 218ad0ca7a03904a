import { colorOf, type Series } from '../../ui/chart/steps.ts'
import styles from './dashboard.module.css'

interface ShareRingProps {
  readonly label: string
  readonly series: readonly Series[]
  readonly values: ReadonlyMap<string, number>
  readonly nameOf: (key: string) => string
  readonly format: (value: number) => string
}

const [size, thickness] = [190, 26]
const radius = (size - thickness) / 2
const circumference = 2 * Math.PI * radius

/** The share of each series: a part of the circle's line. Its name and value are told where the pointer rests. */
export function ShareRing({ label, series, values, nameOf, format }: ShareRingProps) {
  const parts = series.flatMap(({ id, key, color }) => {
    const value = values.get(key) ?? 0
    return value > 0 ? [{ id, key, color, value }] : []
  })
  const total = parts.reduce((sum, { value }) => sum + value, 0)
  const begins = parts.map((_, index) => parts.slice(0, index).reduce((sum, { value }) => sum + value, 0) / total)
  return (
    <div className={styles.ring}>
      <svg role="img" aria-label={label} width={size} height={size} viewBox={`0 0 ${size} ${size}`}>
        {parts.map(({ id, key, color, value }, index) => {
          const share = value / total
          const gap = parts.length > 1 ? Math.min(2, (share * circumference) / 2) : 0
          return (
            <circle
              key={id}
              cx={size / 2}
              cy={size / 2}
              r={radius}
              fill="none"
              stroke={colorOf(color)}
              strokeWidth={thickness}
              strokeDasharray={`${share * circumference - gap} ${circumference}`}
              transform={`rotate(${(begins[index] ?? 0) * 360 - 90} ${size / 2} ${size / 2})`}
            >
              <title>{`${nameOf(key)}: ${format(value)}`}</title>
            </circle>
          )
        })}
      </svg>
    </div>
  )
}
