import type { ComponentProps, CSSProperties } from 'react'
import styles from './tag.module.css'

export interface TagProps extends ComponentProps<'span'> {
  /** A colour of the theme, such as `green` or `sluice`. */
  readonly color?: string
  /** A dot before the text, for states. */
  readonly dot?: boolean
}

/** A quiet tinted label. The colour only supports the text, which carries the meaning. */
export function Tag({ color = 'gray', children, dot = false, className = '', ...rest }: TagProps) {
  return (
    <span {...rest} className={`${styles.tag} ${className}`} style={tint(color)}>
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
