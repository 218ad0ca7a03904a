import { ActionIcon, Group, Title } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { type ReactNode, useId, useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { useNarrow } from '../../lib/narrow.ts'
import { texts } from '../texts.ts'
import styles from './page-header.module.css'

interface PageHeaderProps {
  readonly title: string
  readonly description?: ReactNode
  /** Buttons at the right; the main one last. */
  readonly actions?: ReactNode
}

/** The head of every screen: its h1, a line on its purpose, and its actions. On a narrow window the line is shown by a button. */
export function PageHeader({ title, description, actions }: PageHeaderProps) {
  const say = useText(texts)
  const narrow = useNarrow()
  const id = useId()
  const [isShown, setShown] = useState(false)
  return (
    <header className={styles.header}>
      <div className={styles.words}>
        <div className={styles.title}>
          <Title order={1}>{title}</Title>
          {narrow && description && (
            <ActionIcon
              aria-label={say('aboutPage')}
              aria-expanded={isShown}
              aria-controls={isShown ? id : undefined}
              onClick={() => setShown(!isShown)}
            >
              <IconInfoCircle size={18} stroke={1.6} />
            </ActionIcon>
          )}
        </div>
        {!narrow && description && <p className={styles.description}>{description}</p>}
      </div>
      {actions && (
        <Group gap="xs" align="stretch" wrap={narrow ? 'nowrap' : 'wrap'}>
          {actions}
        </Group>
      )}
      {narrow && description && isShown && (
        <p id={id} className={styles.description}>
          {description}
        </p>
      )}
    </header>
  )
}
