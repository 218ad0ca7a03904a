import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import styles from './dialog.module.css'
import { dialogName } from './dialog-name.ts'
import { useLayer } from './layers.ts'
import { useFocusReturn } from './use-focus-return.ts'

interface DialogProps {
  readonly title: string
  readonly size?: 'md' | 'lg' | 'xl' | number
  readonly onClose: () => void
  /** Content below the scrolling part, such as the buttons. */
  readonly footer?: ReactNode
  readonly children: ReactNode
}

/** A dialog over the page or over a drawer, for content to work with. A question uses `confirm`. */
export function Dialog({ title, size = 'lg', onClose, footer, children }: DialogProps) {
  const say = useText(texts)
  const isTopmost = useLayer()
  useFocusReturn()
  return (
    <Modal
      opened
      onClose={() => isTopmost() && onClose()}
      size={size}
      title={title}
      attributes={dialogName(title)}
      closeButtonProps={{ 'aria-label': say('close') }}
    >
      {children}
      {footer && <div className={styles.footer}>{footer}</div>}
    </Modal>
  )
}
