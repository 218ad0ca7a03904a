import { UnstyledButton } from '@mantine/core'
import { IconChevronDown, IconLayoutSidebarLeftCollapse, IconLayoutSidebarLeftExpand } from '@tabler/icons-react'
import { Link, useLocation } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { useLocal, useText } from '../../lib/i18n.ts'
import { useOffered } from '../../lib/offered.ts'
import { type NavGroup, navGroups, type Part, type Screen } from '../../lib/screen.ts'
import { useStatus } from '../../lib/status.ts'
import styles from './sidebar.module.css'
import { texts } from './texts.ts'

interface SidebarProps {
  readonly screens: readonly Screen[]
  readonly collapsed?: boolean
  /** Without it the sidebar cannot be collapsed, as in the drawer. */
  readonly onCollapse?: (collapsed: boolean) => void
  readonly onChoose?: () => void
}

export function Sidebar({ screens, collapsed = false, onCollapse, onChoose }: SidebarProps) {
  const say = useText(texts)
  const local = useLocal()
  const groups = useNavigation(screens)
  const { pathname } = useLocation()
  // A separate screen is no part of the one whose path is its prefix.
  const isScreen = screens.some(({ path }) => path === pathname)
  const Icon = collapsed ? IconLayoutSidebarLeftExpand : IconLayoutSidebarLeftCollapse

  return (
    <div className={styles.sidebar} data-collapsed={collapsed} data-plain={onCollapse === undefined}>
      <nav className={styles.nav} aria-label={say('mainNav')}>
        {groups.map(({ group, entries }) => (
          <section key={group} className={styles.group} aria-label={local(navGroups[group])}>
            <p className={styles.groupName} aria-hidden="true">
              {local(navGroups[group])}
            </p>
            {entries.map((screen) => (
              <Entry key={screen.path} screen={screen} exact={isScreen} collapsed={collapsed} onChoose={onChoose} />
            ))}
          </section>
        ))}
      </nav>
      {onCollapse && (
        <UnstyledButton
          className={`${styles.entry} ${styles.collapse}`}
          aria-expanded={!collapsed}
          onClick={() => onCollapse(!collapsed)}
        >
          <Icon size={18} stroke={1.6} aria-hidden="true" />
          <span className={styles.label}>{say(collapsed ? 'expand' : 'collapse')}</span>
        </UnstyledButton>
      )}
    </div>
  )
}

interface EntryProps {
  readonly screen: Screen
  /** Only its own path makes it the current one. */
  readonly exact: boolean
  readonly collapsed: boolean
  readonly onChoose: (() => void) | undefined
}

function Entry({ screen, exact, collapsed, onChoose }: EntryProps) {
  const local = useLocal()
  const status = useStatus()
  const parts = screen.nav?.parts?.(status) ?? []
  const label = local(screen.label)
  if (parts.length > 1 && !collapsed) return <SplitEntry screen={screen} parts={parts} onChoose={onChoose} />
  return (
    <Link
      to={parts[0]?.path ?? screen.path}
      className={styles.entry}
      activeOptions={{ includeSearch: false, exact }}
      title={collapsed ? label : undefined}
      onClick={onChoose}
    >
      <screen.icon size={18} stroke={1.6} aria-hidden="true" />
      <span className={styles.label}>{label}</span>
      {screen.nav?.Badge && (
        <Suspense>
          <screen.nav.Badge />
        </Suspense>
      )}
    </Link>
  )
}

/** Its parts are shown below it once it is opened, and while one of them is the page. */
function SplitEntry({ screen, parts, onChoose }: { screen: Screen; parts: readonly Part[]; onChoose: (() => void) | undefined }) {
  const local = useLocal()
  const isHere = useLocation().pathname.startsWith(`${screen.path}/`)
  const [opened, setOpened] = useState(isHere)
  return (
    <>
      <UnstyledButton className={styles.entry} aria-expanded={opened} onClick={() => setOpened(!opened)}>
        <screen.icon size={18} stroke={1.6} aria-hidden="true" />
        <span className={styles.label}>{local(screen.label)}</span>
        <IconChevronDown size={15} stroke={1.6} className={styles.chevron} data-opened={opened} aria-hidden="true" />
      </UnstyledButton>
      {opened &&
        parts.map(({ name, path }) => (
          <Link key={path} to={path} className={`${styles.entry} ${styles.part}`} onClick={onChoose}>
            <span className={styles.label}>{name}</span>
          </Link>
        ))}
    </>
  )
}

/** The navigation of this user, with the parts that the site offers. */
function useNavigation(screens: readonly Screen[]): { group: NavGroup; entries: Screen[] }[] {
  const isOffered = useOffered()
  const visible = screens.filter((screen) => screen.nav && isOffered(screen))
  // The keys of the table are its groups, in their order.
  const groups = Object.keys(navGroups) as NavGroup[]
  return groups
    .map((group) => ({ group, entries: visible.filter((screen) => screen.nav?.group === group) }))
    .filter(({ entries }) => entries.length > 0)
}
