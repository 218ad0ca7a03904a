import { Stack } from '@mantine/core'
import { useEffect, useState } from 'react'
import { sitePath } from '../../lib/base-path.ts'
import { useStatus } from '../../lib/status.ts'
import { Dialog } from '../dialog/dialog.tsx'
import { Notice } from '../page/notice.tsx'
import shared from '../shared.module.css'
import styles from './outside.module.css'

/** https://core.telegram.org/widgets/login */
const script = 'https://telegram.org/js/telegram-widget.js?22'

interface TelegramDialogProps {
  /** Texts of the screen that opens the dialog. */
  readonly words: { title: string; hint: string; failed: string }
  /** The state that binds the reply to this browser. */
  readonly state: string
  readonly onClose: () => void
}

/**
 * The button of Telegram. It redirects to our own page with the signed data: its callback mode would need `eval`, which our pages do
 * not allow.
 */
export function TelegramDialog({ words, state, onClose }: TelegramDialogProps) {
  const { telegram_bot_name: bot } = useStatus()
  // The dialog draws its content only after it has opened.
  const [place, setPlace] = useState<HTMLDivElement | null>(null)
  const [failed, setFailed] = useState(false)

  useEffect(() => {
    if (!place) return
    const element = document.createElement('script')
    element.async = true
    element.src = script
    element.dataset.telegramLogin = bot
    element.dataset.size = 'large'
    element.dataset.authUrl = `${location.origin}${sitePath('/oauth/telegram')}?${new URLSearchParams({ state })}`
    element.onerror = () => setFailed(true)
    place.append(element)
    return () => place.replaceChildren()
  }, [bot, state, place])

  return (
    <Dialog title={words.title} size="md" onClose={onClose}>
      <Stack gap="sm">
        <p className={shared.hint}>{words.hint}</p>
        {failed && <Notice kind="warn">{words.failed}</Notice>}
        <div ref={setPlace} className={styles.widget} />
      </Stack>
    </Dialog>
  )
}
