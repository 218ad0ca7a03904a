import { Button, Drawer } from '@mantine/core'
import type { ReactNode } from 'react'
import { useText } from '../../lib/i18n.ts'
import { dialogName } from '../dialog/dialog-name.ts'
import { useLayer } from '../dialog/layers.ts'
import { useFocusReturn } from '../dialog/use-focus-return.ts'
import { texts } from '../texts.ts'
import styles from './list-filters.module.css'

/** The filters of a list at the lower edge of a narrow window. They apply at once; the list is behind. */
export function FilterSheet({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  const say = useText(texts)
  const isTopmost = useLayer()
  useFocusReturn()
  return (
    <Drawer
      opened
      onClose={() => isTopmost() && onClose()}
      position="bottom"
      classNames={{ inner: styles.sheetInner ?? '', content: styles.sheetContent ?? '' }}
      title={say('filters')}
      attributes={dialogName(say('filters'))}
      closeButtonProps={{ 'aria-label': say('close') }}
    >
      <div className={styles.sheet}>
        {children}
        <Button onClick={onClose}>{say('filtersDone')}</Button>
      </div>
    </Drawer>
  )
}
