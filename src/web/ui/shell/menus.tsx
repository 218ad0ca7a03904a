import { Menu, useMantineColorScheme } from '@mantine/core'
import { IconCheck, IconLogout, IconSettings } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { roleLabels } from '../../../contract/roles.ts'
import { changeLanguage, languages, useConsoleLanguage, useLocal, useText } from '../../lib/i18n.ts'
import { useSession } from '../../lib/session.ts'
import { OpeningMenu } from '../dialog/opening-menu.tsx'
import shared from '../shared.module.css'
import { schemes, useLogOut } from './actions.ts'
import styles from './header.module.css'
import { LanguageButton, ThemeButton, UserButton } from './menu-buttons.tsx'
import { texts } from './texts.ts'

/** The menus of the header, each opened as it appears. */

export function ThemeMenu() {
  const say = useText(texts)
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <OpeningMenu>
      <Menu.Target>
        <ThemeButton autoFocus />
      </Menu.Target>
      <Menu.Dropdown>
        {schemes.map(({ value, label, Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon size={16} />}
            rightSection={value === colorScheme && <IconCheck size={14} />}
            onClick={() => setColorScheme(value)}
          >
            {say(label)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </OpeningMenu>
  )
}

export function LanguageMenu() {
  const chosen = useConsoleLanguage()
  return (
    <OpeningMenu>
      <Menu.Target>
        <LanguageButton autoFocus />
      </Menu.Target>
      <Menu.Dropdown>
        {languages.map(({ value, name, locale }) => (
          <Menu.Item
            key={value}
            lang={locale}
            rightSection={value === chosen.value && <IconCheck size={14} />}
            onClick={() => changeLanguage(value)}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </OpeningMenu>
  )
}

export function UserMenu() {
  const say = useText(texts)
  const local = useLocal()
  const navigate = useNavigate()
  const logOut = useLogOut()
  const user = useSession()
  const roleLabel = Object.entries(roleLabels).find(([value]) => Number(value) === user?.role)?.[1].label

  return (
    <OpeningMenu width={200}>
      <Menu.Target>
        <UserButton autoFocus />
      </Menu.Target>
      <Menu.Dropdown>
        <div className={styles.who}>
          <strong>{user?.display_name || user?.username}</strong>
          {roleLabel && <span className={shared.note}>{local(roleLabel)}</span>}
        </div>
        <Menu.Divider />
        <Menu.Item leftSection={<IconSettings size={16} />} onClick={() => void navigate({ to: '/setting' })}>
          {say('personal')}
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void logOut()}>
          {say('logout')}
        </Menu.Item>
      </Menu.Dropdown>
    </OpeningMenu>
  )
}
