import { UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { startFireworks } from './fireworks.ts'
import { texts } from './texts.ts'
import styles from './top-links.module.css'

const shownMs = 3000
const reloadAfterMs = 10_000

export function isNewYear(now = new Date()): boolean {
  return now.getMonth() === 0 && now.getDate() === 1
}

/** On the first of January: three seconds of fireworks, and a fresh page ten seconds after them. */
export function NewYear() {
  const say = useText(texts)
  const [running, setRunning] = useState(false)

  function celebrate(): void {
    setRunning(true)
    const stop = startFireworks()
    setTimeout(() => {
      stop()
      setTimeout(() => window.location.reload(), reloadAfterMs)
    }, shownMs)
  }

  return (
    <UnstyledButton className={styles.link} disabled={running} onClick={celebrate}>
      🎉 {say('newYear')}
    </UnstyledButton>
  )
}
