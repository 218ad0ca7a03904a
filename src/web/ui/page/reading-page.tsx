import type { ReactNode } from 'react'
import styles from './reading-page.module.css'

/** A page for reading: not wider than a text should be. */
export function ReadingPage({ children }: { children: ReactNode }) {
  return <div className={styles.page}>{children}</div>
}
