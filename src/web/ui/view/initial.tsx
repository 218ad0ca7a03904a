import { colorOf } from '../../lib/colors.ts'
import styles from './initial.module.css'
import { tint } from './tag.tsx'

/** The first letter of a name in a circle whose colour belongs to the name. It adds no information to the name beside it. */
export function Initial({ name, size = 28 }: { name: string; size?: number }) {
  return (
    <span
      className={styles.initial}
      style={{ ...tint(colorOf(name)), width: size, height: size, fontSize: size * 0.42 }}
      data-letter={[...name][0]?.toUpperCase()}
      aria-hidden="true"
    />
  )
}
