import { ActionIcon, Button } from '@mantine/core'
import { IconMenu2, IconSearch } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { sitePath } from '../../lib/base-path.ts'
import { useText } from '../../lib/i18n.ts'
import type { Screen } from '../../lib/screen.ts'
import { useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { Tag } from '../view/tag.tsx'
import styles from './header.module.css'
import { HeaderMenus } from './header-menus.tsx'
import { PayerSwitcher } from './payer-switcher.tsx'
import { texts } from './texts.ts'
import { TopLinks } from './top-links.tsx'

interface HeaderProps {
  readonly screens: readonly Screen[]
  readonly narrow: boolean
  readonly onMenu: () => void
  readonly onSearch: () => void
}

export function Header({ screens, narrow, onMenu, onSearch }: HeaderProps) {
  const say = useText(texts)
  const user = useSession()
  const { system_name: name, logo, self_use_mode_enabled: selfUse, demo_site_enabled: demo, register_enabled: open } = useStatus()

  return (
    <header className={styles.header}>
      {narrow && (
        <ActionIcon size="lg" aria-label={say('menu')} onClick={onMenu}>
          <IconMenu2 size={20} stroke={1.7} />
        </ActionIcon>
      )}
      <Link to="/" className={styles.brand}>
        <img src={logo || sitePath('/logo.png')} alt="" width={26} height={26} className={styles.logo} />
        <span className={styles.name}>{name}</span>
      </Link>
      {selfUse ? <Tag color="violet">{say('selfUse')}</Tag> : demo && <Tag color="blue">{say('demo')}</Tag>}
      {!narrow && <TopLinks screens={screens} />}
      <div className={styles.tools}>
        {!narrow && <PayerSwitcher />}
        {user && !narrow && (
          <button type="button" className={styles.search} onClick={onSearch}>
            <IconSearch size={15} stroke={1.8} aria-hidden="true" />
            <span>{say('search')}</span>
            <kbd>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
          </button>
        )}
        {user && narrow && (
          <ActionIcon size="lg" aria-label={say('search')} onClick={onSearch}>
            <IconSearch size={19} stroke={1.7} />
          </ActionIcon>
        )}
        <HeaderMenus />
        {!user && open && !selfUse && !narrow && (
          <Button component={Link} to="/register" size="compact-md" variant="default" className={styles.login ?? ''}>
            {say('register')}
          </Button>
        )}
        {!user && (
          <Button component={Link} to="/login" size="compact-md" className={styles.login ?? ''}>
            {say('login')}
          </Button>
        )}
      </div>
    </header>
  )
}

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent)
