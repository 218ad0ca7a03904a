import { Drawer } from '@mantine/core'
import { Suspense, useEffect, useRef, useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import { confirmDiscard } from './confirm.tsx'
import { dialogName } from './dialog-name.ts'
import styles from './drawer-form.module.css'
import { DrawerFormWaiting } from './drawer-form.tsx'
import { useLayer } from './layers.ts'
import { type DrawerHold, SideDrawerContext, type SideDrawerProps } from './side-drawer-context.ts'

/** A panel at the side of a list. Esc and a click outside close it, unless unsaved input would be lost. */
export function SideDrawerPanel<Subject>({ subject, title, onClose, wide = false, children }: SideDrawerProps<Subject>) {
  const say = useText(texts)
  // While closing it still shows its last subject.
  const [shown, setShown] = useState(subject)
  if (subject !== undefined && subject !== shown) setShown(subject)
  // A drawer animates and restores the focus only if it is mounted before it opens.
  const [isMounted, setIsMounted] = useState(false)
  useEffect(() => setIsMounted(true), [])
  const isTopmost = useLayer(isMounted && subject !== undefined)
  const hold = useRef<DrawerHold>({ dirty: false, busy: false })

  async function close(): Promise<void> {
    if (hold.current.busy) return
    if (!hold.current.dirty || (await confirmDiscard())) onClose()
  }

  return (
    <Drawer
      opened={isMounted && subject !== undefined}
      onClose={() => isTopmost() && void close()}
      title={shown !== undefined && title(shown)}
      attributes={shown !== undefined ? dialogName(title(shown)) : undefined}
      size={wide ? 720 : 480}
      closeButtonProps={{ 'aria-label': say('close') }}
      classNames={{
        content: styles.content ?? '',
        body: styles.body ?? '',
        header: styles.header ?? '',
      }}
    >
      <SideDrawerContext value={{ close: () => void close(), hold }}>
        <Suspense fallback={<DrawerFormWaiting />}>{shown !== undefined && children(shown)}</Suspense>
      </SideDrawerContext>
    </Drawer>
  )
}
