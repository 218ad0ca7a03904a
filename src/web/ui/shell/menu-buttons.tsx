import { ActionIcon, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { IconLanguage, IconSun } from '@tabler/icons-react'
import type { ComponentProps } from 'react'
import { useText } from '../../lib/i18n.ts'
import { useNarrow } from '../../lib/narrow.ts'
import { useSession } from '../../lib/session.ts'
import { Initial } from '../view/initial.tsx'
import { schemes } from './actions.ts'
import styles from './header.module.css'
import { texts } from './texts.ts'

/** The buttons of the header's menus. */

type ButtonProps = ComponentProps<'button'>

export function ThemeButton(props: ButtonProps) {
  const say = useText(texts)
  const { colorScheme } = useMantineColorScheme()
  const Current = schemes.find(({ value }) => value === colorScheme)?.Icon ?? IconSun
  return (
    <ActionIcon size="lg" aria-label={say('theme')} title={say('theme')} {...props}>
      <Current size={18} stroke={1.7} />
    </ActionIcon>
  )
}

export function LanguageButton(props: ButtonProps) {
  const say = useText(texts)
  return (
    <ActionIcon size="lg" aria-label={say('language')} title={say('language')} {...props}>
      <IconLanguage size={18} stroke={1.7} />
    </ActionIcon>
  )
}

export function UserButton(props: ButtonProps) {
  const say = useText(texts)
  const narrow = useNarrow()
  const user = useSession()
  const name = user?.display_name || user?.username || ''
  return (
    <UnstyledButton aria-label={`${name} · ${say('account')}`} {...props} className={styles.user}>
      <Initial name={name} />
      {!narrow && <span className={styles.userName}>{name}</span>}
    </UnstyledButton>
  )
}
