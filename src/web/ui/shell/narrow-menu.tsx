import { Drawer } from '@mantine/core'
import { useText } from '../../lib/i18n.ts'
import type { Screen } from '../../lib/screen.ts'
import { useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { dialogName } from '../dialog/dialog-name.ts'
import { useFocusReturn } from '../dialog/use-focus-return.ts'
import { texts as uiTexts } from '../texts.ts'
import { Sidebar } from './sidebar.tsx'
import { TopLinks } from './top-links.tsx'

/** All navigation of a narrow window, over the page; it closes after a choice. */
export function NarrowMenu({ screens, onClose }: { screens: readonly Screen[]; onClose: () => void }) {
  const say = useText(uiTexts)
  const user = useSession()
  useFocusReturn()
  const { system_name: name } = useStatus()
  return (
    <Drawer
      opened
      onClose={onClose}
      position="left"
      size={288}
      title={name}
      attributes={dialogName(name)}
      padding="sm"
      closeButtonProps={{ 'aria-label': say('close') }}
    >
      <TopLinks screens={screens} onChoose={onClose} stacked />
      {user && <Sidebar screens={screens} onChoose={onClose} />}
    </Drawer>
  )
}
