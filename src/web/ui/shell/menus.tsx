import { ActionIcon, Avatar, Menu, Tooltip, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { IconCheck, IconDeviceDesktop, IconLanguage, IconLogout, IconMoon, IconSettings, IconSun } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { SignedInUser } from '../../../contract/entities/user.ts'
import { roleLabels } from '../../../contract/roles.ts'
import { call } from '../../lib/call.ts'
import { colorOf } from '../../lib/format.ts'
import { changeLanguage, languages, useLanguage, useLocal, useText } from '../../lib/i18n.ts'
import { forgetUser } from '../../lib/session.ts'
import { toast } from '../../lib/toast.ts'
import styles from './header.module.css'
import { texts } from './texts.ts'

export const schemes = [
  { value: 'light', label: 'themeLight', Icon: IconSun },
  { value: 'dark', label: 'themeDark', Icon: IconMoon },
  { value: 'auto', label: 'themeAuto', Icon: IconDeviceDesktop },
] as const

export function ThemeMenu() {
  const say = useText(texts)
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const Current = schemes.find(({ value }) => value === colorScheme)?.Icon ?? IconSun

  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Tooltip label={say('theme')}>
          <ActionIcon size="lg" aria-label={say('theme')}>
            <Current size={18} stroke={1.7} />
          </ActionIcon>
        </Tooltip>
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
    </Menu>
  )
}

export function LanguageMenu() {
  const say = useText(texts)
  const language = useLanguage()
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Tooltip label={say('language')}>
          <ActionIcon size="lg" aria-label={say('language')}>
            <IconLanguage size={18} stroke={1.7} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
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

/** Ends the session on the server and here, whatever the server answers. */
export function useLogOut(): () => Promise<void> {
  const say = useText(texts)
  const navigate = useNavigate()
  const client = useQueryClient()
  return async () => {
    await call('POST /api/user/logout').catch(() => null)
    forgetUser()
    client.clear()
    toast.success(say('loggedOut'))
    await navigate({ to: '/login' })
  }
}

export function UserMenu({ user, narrow }: { user: SignedInUser; narrow: boolean }) {
  const say = useText(texts)
  const local = useLocal()
  const navigate = useNavigate()
  const logOut = useLogOut()
  const name = user.display_name || user.username
  const roleLabel = Object.entries(roleLabels).find(([value]) => Number(value) === user.role)?.[1].label

  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <UnstyledButton className={styles.user} aria-label={`${say('account')}: ${name}`}>
          <Avatar size={28} radius="xl" color={colorOf(user.username)} variant="filled">
            {[...name][0]?.toUpperCase()}
          </Avatar>
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
