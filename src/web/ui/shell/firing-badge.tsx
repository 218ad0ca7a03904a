import { useFiring } from '../../lib/firing.ts'
import { useText } from '../../lib/i18n.ts'
import styles from './sidebar.module.css'
import { texts } from './texts.ts'

/** The number of alerts that fire, behind the name of their screen. */
export function FiringBadge() {
  const say = useText(texts)
  const count = useFiring().length
  if (count === 0) return null
  const label = say('firing', { count })
  return (
    <span className={styles.badge} role="img" aria-label={label} title={label}>
      {count}
    </span>
  )
}
