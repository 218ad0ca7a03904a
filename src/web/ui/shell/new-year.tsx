import { UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { texts } from './texts.ts'
import styles from './top-links.module.css'

const shownMs = 3000
const reloadAfterMs = 10_000

export function isNewYear(now = new Date()): boolean {
  return now.getMonth() === 0 && now.getDate() === 1
}

/** On the first of January: three seconds of fireworks, and a reload of the page ten seconds after them. */
export function NewYear() {
  const say = useText(texts)
  const [running, setRunning] = useState(false)

  async function celebrate(): Promise<void> {
    setRunning(true)
    const { startFireworks } = await import('./fireworks.ts')
    const stop = startFireworks()
    setTimeout(() => {
      stop()
      setTimeout(() => window.location.reload(), reloadAfterMs)
    }, shownMs)
  }

  return (
    <UnstyledButton className={styles.link} disabled={running} onClick={() => void celebrate()}>
      🎉 {say('newYear')}
    </UnstyledButton>
  )
}
