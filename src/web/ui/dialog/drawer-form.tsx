import { Button, Skeleton } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, use, useLayoutEffect } from 'react'
import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import { confirmDiscard } from './confirm.tsx'
import styles from './drawer-form.module.css'
import { SideDrawerContext } from './side-drawer-context.ts'

interface DrawerFormProps {
  readonly onSubmit: () => void
  readonly submitLabel?: string
  /** A save is running: the form can neither be submitted again nor closed. */
  readonly busy?: boolean
  /** There is unsaved input; closing and leaving ask first. To close by navigation, use `ignoreBlocker`. */
  readonly dirty?: boolean
  /** Between the buttons to cancel and to submit. */
  readonly second?: ReactNode
  /** At the left of the buttons, such as the progress of a long save. */
  readonly aside?: ReactNode
  readonly children: ReactNode
}

/** A form in a `<SideDrawer>`. Enter submits. */
export function DrawerForm({ onSubmit, submitLabel, busy = false, dirty = false, second, aside, children }: DrawerFormProps) {
  const say = useText(texts)
  const drawer = use(SideDrawerContext)
  useBlocker({
    disabled: !dirty,
    enableBeforeUnload: dirty,
    shouldBlockFn: async ({ current, next }) => current.pathname !== next.pathname && !(await confirmDiscard()),
  })

  // The drawer around it is notified before it can be closed.
  useLayoutEffect(() => {
    if (!drawer) return
    const { hold } = drawer
    hold.current = { dirty, busy }
    return () => {
      hold.current = { dirty: false, busy: false }
    }
  }, [drawer, dirty, busy])

  function submit(event: FormEvent): void {
    event.preventDefault()
    if (!busy) onSubmit()
  }

  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      <div className={styles.fields}>{children}</div>
      <div className={styles.footer}>
        {aside && <div className={styles.aside}>{aside}</div>}
        <Button variant="default" onClick={drawer?.close} disabled={busy}>
          {say('cancel')}
        </Button>
        {second}
        <Button type="submit" loading={busy}>
          {submitLabel ?? say('submit')}
        </Button>
      </div>
    </form>
  )
}

/** The content of a drawer without a form. */
export function DrawerBody({ children }: { readonly children: ReactNode }) {
  return <div className={styles.fields}>{children}</div>
}

/** The placeholder of a form whose data is loading. */
export function DrawerFormWaiting() {
  const say = useText(texts)
  return (
    <div className={styles.fields} role="status" aria-label={say('loading')}>
      {[40, 90, 60, 90, 75].map((width, index) => (
        // Only the position distinguishes the bars.
        // biome-ignore lint/suspicious/noArrayIndexKey: they never change
        <Skeleton key={index} height={index % 2 === 0 ? 12 : 34} width={`${width}%`} />
      ))}
    </div>
  )
}
