import { ActionIcon, Menu, Tooltip, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { IconCheck, IconLanguage, IconLogout, IconSettings, IconSun } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import type { SignedInUser } from '../../../contract/entities/user.ts'
import { roleLabels } from '../../../contract/roles.ts'
import { changeLanguage, languages, useLanguage, useLocal, useText } from '../../lib/i18n.ts'
import { useSession } from '../../lib/session.ts'
import { Initial } from '../initial.tsx'
import { schemes, useLogOut } from './actions.ts'
import styles from './header.module.css'
import { texts } from './texts.ts'

/** The menus at the right of the header. */
export function Menus({ narrow }: { narrow: boolean }) {
  const user = useSession()
  return (
    <>
      <ThemeMenu />
      <LanguageMenu />
      {user && <UserMenu user={user} narrow={narrow} />}
    </>
  )
}

function ThemeMenu() {
  const say = useText(texts)
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const Current = schemes.find(({ value }) => value === colorScheme)?.Icon ?? IconSun

  return (
    <Menu position="bottom-end">
      <Tooltip label={say('theme')}>
        <Menu.Target>
          <ActionIcon size="lg" aria-label={say('theme')}>
            <Current size={18} stroke={1.7} />
          </ActionIcon>
        </Menu.Target>
      </Tooltip>
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
    </Menu>
  )
}

function LanguageMenu() {
  const say = useText(texts)
  const language = useLanguage()
  return (
    <Menu position="bottom-end">
      <Tooltip label={say('language')}>
        <Menu.Target>
          <ActionIcon size="lg" aria-label={say('language')}>
            <IconLanguage size={18} stroke={1.7} />
          </ActionIcon>
        </Menu.Target>
      </Tooltip>
      <Menu.Dropdown>
        {languages.map(({ value, name, locale }) => (
          <Menu.Item
            key={value}
            lang={locale}
            rightSection={value === language && <IconCheck size={14} />}
            onClick={() => void changeLanguage(value)}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function UserMenu({ user, narrow }: { user: SignedInUser; narrow: boolean }) {
  const say = useText(texts)
  const local = useLocal()
  const navigate = useNavigate()
  const logOut = useLogOut()
  const name = user.display_name || user.username
  const roleLabel = Object.entries(roleLabels).find(([value]) => Number(value) === user.role)?.[1].label

  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <UnstyledButton className={styles.user} aria-label={`${name} · ${say('account')}`}>
          <Initial name={name} />
          {!narrow && <span className={styles.userName}>{name}</span>}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <div className={styles.who}>
          <strong>{name}</strong>
          {roleLabel && <span>{local(roleLabel)}</span>}
        </div>
        <Menu.Divider />
        <Menu.Item leftSection={<IconSettings size={16} />} onClick={() => void navigate({ to: '/setting' })}>
          {say('personal')}
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} />} onClick={() => void logOut()}>
          {say('logout')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
