import { Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { sitePath } from '../../lib/base-path.ts'
import { useStatus } from '../../lib/status.ts'
import styles from './login.module.css'

/** The one card of the pages before the login. */
export function EntryCard({ title, links, children }: { title: string; links?: ReactNode; children: ReactNode }) {
  const { logo } = useStatus()
  return (
    <div className={styles.page}>
      <div className={styles.card}>
        <img src={logo || sitePath('/logo.png')} alt="" width={44} height={44} />
        <Title order={1}>{title}</Title>
        {children}
        {links && <div className={styles.links}>{links}</div>}
      </div>
    </div>
  )
}
