import type { CSSProperties, ReactNode } from 'react'
import styles from './tag.module.css'

export interface TagProps {
  /** A colour of the theme, such as `green` or `sluice`. */
  readonly color?: string
  readonly children: ReactNode
  /** A dot before the text, for states. */
  readonly dot?: boolean
  readonly tabIndex?: number
}

/** A quiet tinted label. The colour only supports the text, which always says it too. */
export function Tag({ color = 'gray', children, dot = false, ...rest }: TagProps) {
  return (
    <span className={styles.tag} style={tint(color)} {...rest}>
      {dot && <span className={styles.dot} aria-hidden="true" />}
      {children}
    </span>
  )
}

/** The colour that tinted things mix their tones from. */
export function tint(color: string): CSSProperties {
  // A custom property is no member of the standard style type.
  return { '--tint': `var(--mantine-color-${color}-6)` } as CSSProperties
}
