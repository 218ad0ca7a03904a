import { UnstyledButton } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { confirmDiscard } from '../dialog/confirm.tsx'
import { texts } from './texts.ts'
import styles from './top-links.module.css'

const shownMs = 3000
const reloadAfterMs = 10_000

export function isNewYear(now = new Date()): boolean {
  return now.getMonth() === 0 && now.getDate() === 1
}

/**
 * On the first of January: three seconds of fireworks, and a reload of the page ten seconds after them. Where something was typed, it asks
 * first.
 */
export function NewYear() {
  const say = useText(texts)
  const [running, setRunning] = useState(false)
  const typed = useRef(false)
  useEffect(() => {
    const note = () => {
      typed.current = true
    }
    document.addEventListener('input', note)
    return () => document.removeEventListener('input', note)
  }, [])

  async function reload(): Promise<void> {
    if (!typed.current || (await confirmDiscard())) window.location.reload()
    else setRunning(false)
  }

  async function celebrate(): Promise<void> {
    setRunning(true)
    const { startFireworks } = await import('./fireworks.ts')
    const stop = startFireworks()
    setTimeout(() => {
      stop()
      setTimeout(() => void reload(), reloadAfterMs)
    }, shownMs)
  }

  return (
    <UnstyledButton className={styles.link} disabled={running} onClick={() => void celebrate()}>
      🎉 {say('newYear')}
    </UnstyledButton>
  )
}
