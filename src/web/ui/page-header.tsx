import { Title } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './page-header.module.css'

export interface PageHeaderProps {
  readonly title: string
  readonly description?: ReactNode
  /** Buttons at the right; the main one last. */
  readonly actions?: ReactNode
}

/** Every screen begins with one: its h1, a line on what it is for, and what can be done here. */
export function PageHeader({ title, description, actions }: PageHeaderProps) {
  return (
    <header className={styles.header}>
      <div className={styles.words}>
        <Title order={1}>{title}</Title>
        {description && <p className={styles.description}>{description}</p>}
      </div>
      {actions && <div className={styles.actions}>{actions}</div>}
    </header>
  )
}
