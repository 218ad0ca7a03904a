import { Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import styles from './panel.module.css'

interface PanelProps {
  readonly title?: ReactNode
  readonly description?: ReactNode
  /** At the right of the title. */
  readonly aside?: ReactNode
  /** A line of buttons under a hairline. */
  readonly footer?: ReactNode
  /** The buttons stay in view while the panel is scrolled. */
  readonly keepFooter?: boolean
  readonly children: ReactNode
}

/** A surface with a hairline around it: the card of this interface. */
export function Panel({ title, description, aside, footer, keepFooter, children }: PanelProps) {
  const titleId = useId()
  return (
    <section className={styles.panel} aria-labelledby={title ? titleId : undefined}>
      {(title || aside) && (
        <header className={styles.header}>
          <div>
            {title && (
              <Title order={2} size="h3" id={titleId}>
                {title}
              </Title>
            )}
            {description && <p className={styles.description}>{description}</p>}
          </div>
          {aside}
        </header>
      )}
      <div className={styles.body}>{children}</div>
      {footer && (
        <footer className={styles.footer} data-kept={keepFooter}>
          {footer}
        </footer>
      )}
    </section>
  )
}
