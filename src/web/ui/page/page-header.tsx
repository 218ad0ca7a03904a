import { Group, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './page-header.module.css'

interface PageHeaderProps {
  readonly title: string
  readonly description?: ReactNode
  /** Buttons at the right; the main one last. */
  readonly actions?: ReactNode
}

/** The head of every screen: its h1, a line on its purpose, and its actions. */
export function PageHeader({ title, description, actions }: PageHeaderProps) {
  return (
    <header className={styles.header}>
      <div className={styles.words}>
        <Title order={1}>{title}</Title>
        {description && <p className={styles.description}>{description}</p>}
      </div>
      {actions && (
        <Group gap="xs" align="stretch">
          {actions}
        </Group>
      )}
    </header>
  )
}
