import { useText } from '../../lib/i18n.ts'
import styles from './settings.module.css'
import { texts } from './texts.ts'

/** The dot of what has unsaved changes. */
export function ChangedMark() {
  const say = useText(texts)
  return <span className={styles.mark} title={say('changed')} role="img" aria-label={say('changed')} />
}
