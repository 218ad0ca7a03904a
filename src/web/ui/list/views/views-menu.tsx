import { ActionIcon, Menu } from '@mantine/core'
import { IconBookmark, IconDeviceFloppy, IconSettings, IconStar } from '@tabler/icons-react'
import { useState } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { OpeningMenu } from '../../dialog/opening-menu.tsx'
import { actionIcon } from '../row-action.ts'
import { ManageViews } from './manage-views.tsx'
import { SaveView } from './save-view.tsx'
import { texts } from './texts.ts'
import type { ViewsMenuProps } from './use-views.ts'
import styles from './views.module.css'

/** The menu of the views, opened as it appears. */
export function ViewsMenu(props: ViewsMenuProps) {
  const { views, onShow } = props
  const say = useText(texts)
  const [dialog, setDialog] = useState<'save' | 'manage'>()
  const close = () => setDialog(undefined)
  return (
    <>
      <OpeningMenu>
        <Menu.Target>
          <ActionIcon size={36} aria-label={say('views')} autoFocus>
            <IconBookmark size={18} stroke={1.6} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {views.length === 0 && <p className={styles.none}>{say('none')}</p>}
          {views.map((view) => (
            <Menu.Item
              key={view.id}
              leftSection={<IconBookmark {...actionIcon} />}
              rightSection={view.is_default ? <IconStar size={14} aria-label={say('defaultMark')} /> : undefined}
              onClick={() => onShow(view)}
            >
              {view.name}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item leftSection={<IconDeviceFloppy {...actionIcon} />} onClick={() => setDialog('save')}>
            {say('save')}
          </Menu.Item>
          {views.length > 0 && (
            <Menu.Item leftSection={<IconSettings {...actionIcon} />} onClick={() => setDialog('manage')}>
              {say('manage')}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </OpeningMenu>
      {dialog === 'save' && <SaveView {...props} onClose={close} />}
      {dialog === 'manage' && <ManageViews {...props} onClose={close} />}
    </>
  )
}
