import { lazy, Suspense, startTransition, useState } from 'react'
import { useSession } from '../../lib/session.ts'
import { LanguageButton, ThemeButton, UserButton } from './menu-buttons.tsx'

/** The menus at the right of the header. Few visits open one, so each is only its button until it is pressed. */
export function HeaderMenus() {
  const user = useSession()
  return (
    <>
      <OnDemand Button={ThemeButton} Menu={ThemeMenu} />
      <OnDemand Button={LanguageButton} Menu={LanguageMenu} />
      {user && <OnDemand Button={UserButton} Menu={UserMenu} />}
    </>
  )
}

const load = () => import('./menus.tsx')
const ThemeMenu = lazy(async () => ({ default: (await load()).ThemeMenu }))
const LanguageMenu = lazy(async () => ({ default: (await load()).LanguageMenu }))
const UserMenu = lazy(async () => ({ default: (await load()).UserMenu }))

interface OnDemandProps {
  readonly Button: typeof ThemeButton
  /** The menu with its button, open as soon as it is rendered. */
  readonly Menu: typeof ThemeMenu
}

/** Hovering or focusing the button preloads the menu. */
function OnDemand({ Button, Menu }: OnDemandProps) {
  const [wanted, setWanted] = useState(false)
  const ahead = () => void load()
  // The button stays, with the focus, until the menu can take its place.
  const open = () => startTransition(() => setWanted(true))
  return (
    <Suspense>
      {wanted ? <Menu /> : <Button aria-haspopup="menu" onPointerEnter={ahead} onFocus={ahead} onClick={open} />}
    </Suspense>
  )
}
