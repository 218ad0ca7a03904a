import styles from './overview.module.css'

const width = 120
const height = 28

/** A small line of values, without axes; a value of null is left out. */
export function SparkLine({ label, values }: { label: string; values: readonly (number | null)[] }) {
  const known = values.flatMap((value, index) => (value === null ? [] : [{ index, value }]))
  const least = Math.min(...known.map(({ value }) => value))
  const most = Math.max(...known.map(({ value }) => value))
  // A change of less than a tenth looks small.
  const range = Math.max(most - least, most / 10)
  const points = known.map(({ index, value }) => {
    const x = values.length === 1 ? width / 2 : (index / (values.length - 1)) * width
    const y = range === 0 ? height / 2 : height - 2 - ((value - (least + most - range) / 2) / range) * (height - 4)
    return `${x.toFixed(1)},${y.toFixed(1)}`
  })
  return (
    <svg className={styles.spark} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
      {points.length > 1 && <polyline points={points.join(' ')} />}
    </svg>
  )
}
