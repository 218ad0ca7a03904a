import { Drawer } from '@mantine/core'
import type { ReactNode } from 'react'
import { useText } from '../../lib/i18n.ts'
import { texts as uiTexts } from '../../ui/texts.ts'
import { texts } from './texts.ts'

/** The settings where there is no room beside the conversation; loaded when first opened. */
export function SettingsDrawer({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  const say = useText(texts)
  const sayUi = useText(uiTexts)
  return (
    <Drawer
      opened
      onClose={onClose}
      position="left"
      size="min(88%, 24rem)"
      title={say('settings')}
      closeButtonProps={{ 'aria-label': sayUi('close') }}
    >
      {children}
    </Drawer>
  )
}
