import { safeHtml } from '../../lib/safe-html.ts'
import styles from './prose.module.css'

export function HtmlBody({ html }: { html: string }) {
  // biome-ignore lint/security/noDangerouslySetInnerHtml: safeHtml takes out everything that could act
  return <div className={styles.prose} dangerouslySetInnerHTML={{ __html: safeHtml(html) }} />
}
