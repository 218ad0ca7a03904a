import { Outlet, useMatches } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useEffectEvent, useState } from 'react'
import { sitePath } from '../../lib/base-path.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { useNarrow, useTight } from '../../lib/narrow.ts'
import type { Screen } from '../../lib/screen.ts'
import { useMay, useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { storedText } from '../../lib/stored.ts'
import { loadToasts, useToastsWanted } from '../../lib/toast.ts'
import { Reauthentication } from '../account/reauthentication.tsx'
import { Dialogs } from '../dialog/dialogs.tsx'
import { ErrorBoundary } from '../page/error-view.tsx'
import { Footer } from './footer.tsx'
import { Header } from './header.tsx'
import { PayerSwitcher } from './payer-switcher.tsx'
import styles from './shell.module.css'
import { Sidebar } from './sidebar.tsx'
import { texts } from './texts.ts'

/**
 * The frame of every screen: header, sidebar, footer, palette, page title. It knows no screen by name, only the table of screens.
 */

// Parts that are not visible at first are loaded right after the page.
const Toasts = lazy(async () => ({ default: (await import('./toasts.tsx')).Toasts }))
const NarrowMenu = lazy(async () => ({ default: (await import('./narrow-menu.tsx')).NarrowMenu }))
const DefaultPassword = lazy(async () => ({ default: (await import('./default-password.tsx')).DefaultPassword }))
const FirstRunReminder = lazy(async () => ({ default: (await import('./first-run.tsx')).FirstRunReminder }))
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))

/** Until there is a message, its container is loaded only this long after the page. */
const toastsAfterMs = 5000

/** The user's choice; without one, the site's default and the available room decide. */
const collapsedChoice = storedText('sidebar-collapsed')

export function Shell({ screens }: { screens: readonly Screen[] }) {
  const say = useText(texts)
  const user = useSession()
  const status = useStatus()
  const narrow = useNarrow()
  const tight = useTight()
  const choice = collapsedChoice.use()
  const [menuOpen, setMenuOpen] = useState(false)
  const [paletteOpen, setPaletteOpen] = useState(false)
  const here = useHere(screens)
  const toastsWanted = useToastsWanted()
  const mayManage = useMay('admin')
  usePaletteKey(() => setPaletteOpen(true))

  // The clock is outside of React. A connection that is lost later could not load the message that reports it.
  useEffect(() => {
    const timer = setTimeout(loadToasts, toastsAfterMs)
    return () => clearTimeout(timer)
  }, [])

  const collapsed = choice === '' ? status.default_collapse_sidebar || tight : choice === 'true'
  const withSidebar = user !== null && !narrow

  return (
    <div className={styles.shell}>
      <PageHead here={here} />
      <a className={styles.skip} href="#main">
        {say('skip')}
      </a>
      <Header screens={screens} narrow={narrow} onMenu={() => setMenuOpen(true)} onSearch={() => setPaletteOpen(true)} />
      {narrow && <PayerSwitcher isBar />}
      <div className={styles.body}>
        {withSidebar && (
          <div className={styles.aside} data-collapsed={collapsed}>
            <Sidebar screens={screens} collapsed={collapsed} onCollapse={(next) => collapsedChoice.write(String(next))} />
          </div>
        )}
        <div className={styles.page}>
          <main id="main" className={styles.main} tabIndex={-1}>
            {user?.default_password && (
              <Suspense>
                <DefaultPassword user={user} />
              </Suspense>
            )}
            {mayManage && !user?.default_password && (
              <Suspense>
                <FirstRunReminder path={here?.path} />
              </Suspense>
            )}
            <ErrorBoundary resetKey={here?.path}>
              <Outlet />
            </ErrorBoundary>
          </main>
          <Footer />
        </div>
      </div>
      {menuOpen && narrow && (
        <Suspense>
          <NarrowMenu screens={screens} onClose={() => setMenuOpen(false)} />
        </Suspense>
      )}
      {paletteOpen && (
        <Suspense>
          <Palette screens={screens} onClose={() => setPaletteOpen(false)} />
        </Suspense>
      )}
      <Dialogs />
      <Reauthentication />
      {toastsWanted && (
        <Suspense>
          <Toasts />
        </Suspense>
      )}
    </div>
  )
}

/** Ctrl+K, or ⌘K, in fields too. */
function usePaletteKey(open: () => void): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || event.key.toLowerCase() !== 'k') return
    event.preventDefault()
    open()
  })
  // The keyboard is outside of React.
  useEffect(() => {
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])
}

function useHere(screens: readonly Screen[]): Screen | undefined {
  const matches = useMatches()
  // The first match is the shell itself.
  const path: string | undefined = matches.length > 1 ? matches.at(-1)?.fullPath : undefined
  return screens.find((screen) => [screen.path, ...(screen.also ?? [])].some((each) => each === path))
}

/** Title and icon of the window, from the system settings. */
function PageHead({ here }: { here: Screen | undefined }) {
  const local = useLocal()
  const { system_name: name, logo } = useStatus()
  return (
    <>
      <title>{here && here.path !== '/' ? `${local(here.label)} · ${name}` : name}</title>
      <link rel="icon" href={logo || sitePath('/logo.png')} />
    </>
  )
}
