import { Button, Drawer } from '@mantine/core'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useText } from '../lib/i18n.ts'
import { confirmDiscard } from './confirm.tsx'
import styles from './drawer-form.module.css'
import { texts } from './texts.ts'

export interface DrawerFormProps {
  readonly opened: boolean
  readonly title: string
  readonly onClose: () => void
  readonly onSubmit: () => void
  readonly submitLabel?: string
  /** A save is under way: nothing can be submitted twice. */
  readonly busy?: boolean
  /** Something was typed; closing asks first. */
  readonly dirty?: boolean
  /** Shown instead of the form while its data is on the way. */
  readonly loading?: ReactNode
  readonly wide?: boolean
  readonly children: ReactNode
}

/** A form at the side of its list. Enter submits; Esc and a click outside close it unless something would be lost. */
export function DrawerForm(props: DrawerFormProps) {
  const { opened, title, onClose, onSubmit, submitLabel, busy = false, dirty = false, loading, wide = false, children } = props
  const say = useText(texts)
  const [asking, setAsking] = useState(false)

  async function close(): Promise<void> {
    if (busy) return
    setAsking(dirty)
    if (!dirty || (await confirmDiscard())) onClose()
    setAsking(false)
  }

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (!busy) onSubmit()
  }

  return (
    <Drawer
      opened={opened}
      onClose={() => void close()}
      title={title}
      size={wide ? 720 : 480}
      // While the question stands, Esc answers it alone.
      closeOnEscape={!asking}
      closeButtonProps={{ 'aria-label': say('close') }}
      classNames={{
        content: styles.content ?? '',
        body: styles.body ?? '',
        title: styles.title ?? '',
        header: styles.header ?? '',
      }}
    >
      <form className={styles.form} onSubmit={submit} noValidate>
        <div className={styles.fields}>{loading ?? children}</div>
        <div className={styles.footer}>
          <Button variant="default" onClick={() => void close()} disabled={busy}>
            {say('cancel')}
          </Button>
          <Button type="submit" loading={busy} disabled={loading !== undefined}>
            {submitLabel ?? say('submit')}
          </Button>
        </div>
      </form>
    </Drawer>
  )
}
