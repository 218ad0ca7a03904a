import { Drawer } from '@mantine/core'
import type { ReactNode } from 'react'
import { useText } from '../../lib/i18n.ts'
import { dialogName } from '../../ui/dialog/dialog-name.ts'
import { useFocusReturn } from '../../ui/dialog/use-focus-return.ts'
import { texts as uiTexts } from '../../ui/texts.ts'

/** Settings or history where there is no room beside the conversation; loaded when first opened. */
export function PanelDrawer({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const sayUi = useText(uiTexts)
  useFocusReturn()
  return (
    <Drawer
      opened
      onClose={onClose}
      position="left"
      size="min(88%, 24rem)"
      title={title}
      attributes={dialogName(title)}
      closeButtonProps={{ 'aria-label': sayUi('close') }}
    >
      {children}
    </Drawer>
  )
}
