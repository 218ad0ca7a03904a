import { Box } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import shared from '../shared.module.css'
import styles from './disclosure.module.css'

interface DisclosureProps {
  readonly title: ReactNode
  /** Its purpose, in one line. */
  readonly hint?: ReactNode
  /** At the right of the title, such as the number of settings inside. */
  readonly aside?: ReactNode
  /** Opens it, such as when something inside needs attention. */
  readonly opens?: boolean
  readonly children: ReactNode
}

/** A part that is seldom needed: closed at first, and drawn when it is first opened. */
export function Disclosure({ title, hint, aside, opens = false, children }: DisclosureProps) {
  const [open, setOpen] = useState(opens)
  const [drawn, setDrawn] = useState(opens)
  const [asked, setAsked] = useState(opens)
  if (opens !== asked) {
    setAsked(opens)
    if (opens) setOpen(true)
  }
  if (open && !drawn) setDrawn(true)

  return (
    <details className={styles.disclosure} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={styles.summary}>
        <IconChevronRight size={16} className={styles.chevron} aria-hidden="true" />
        <span className={shared.grow}>
          <span className={styles.title}>{title}</span>
          {hint && (
            <Box component="span" display="block" className={shared.note}>
              {hint}
            </Box>
          )}
        </span>
        {aside}
      </summary>
      {drawn && <div className={styles.body}>{children}</div>}
    </details>
  )
}
