import type { ReactNode } from 'react'
import styles from './sticky-bar.module.css'

interface StickyBarProps {
  /** Names the bar for screen readers. */
  readonly label: string
  /** How much is unsaved. */
  readonly text: string
  readonly dirty: boolean
  readonly children: ReactNode
}

/** The buttons of a long form, always visible at the lower edge of the window. */
export function StickyBar({ label, text, dirty, children }: StickyBarProps) {
  return (
    <section className={styles.bar} data-dirty={dirty} aria-label={label}>
      <span className={styles.text} role="status">
        {text}
      </span>
      {children}
    </section>
  )
}
