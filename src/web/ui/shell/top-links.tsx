import { Link } from '@tanstack/react-router'
import { useLocal, useText } from '../../lib/i18n.ts'
import { isOnTop, type Screen } from '../../lib/screen.ts'
import { useStatus } from '../../lib/status.ts'
import { isNewYear, NewYear } from './new-year.tsx'
import { texts } from './texts.ts'
import styles from './top-links.module.css'

interface TopLinksProps {
  readonly screens: readonly Screen[]
  /** One below the other, in the drawer of a narrow window. */
  readonly stacked?: boolean
  readonly onChoose?: () => void
}

/** Home, console, then the other public pages. */
export function TopLinks({ screens, stacked = false, onChoose }: TopLinksProps) {
  const say = useText(texts)
  const local = useLocal()
  const status = useStatus()
  const [home, ...others] = screens.filter((screen) => isOnTop(screen, status))

  return (
    <nav className={styles.links} data-stacked={stacked} aria-label={say('topNav')}>
      {home && <TopLink to={home.path} label={local(home.label)} onChoose={onChoose} />}
      {/* It leads home as well, so only the home link shows that one is there. */}
      <Link to="/" className={`${styles.link} ${styles.twin}`} onClick={onChoose}>
        {say('console')}
      </Link>
      {others.map((screen) => (
        <TopLink key={screen.path} to={screen.path} label={local(screen.label)} onChoose={onChoose} />
      ))}
      {isNewYear() && <NewYear />}
    </nav>
  )
}

function TopLink({ to, label, onChoose }: { to: string; label: string; onChoose?: () => void }) {
  return (
    <Link to={to} className={styles.link} activeOptions={{ exact: true, includeSearch: false }} onClick={onChoose}>
      {label}
    </Link>
  )
}
