import { colorOf } from './steps.ts'
import styles from './time-bars.module.css'

/** The colour of a series, beside its name. */
export function Dot({ color }: { color: string | undefined }) {
  return <span className={styles.dot} style={{ background: colorOf(color) }} />
}
