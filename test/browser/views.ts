import type { Access } from '../../src/contract/route.ts'
import { tabs } from '../../src/web/screens/settings/tabs.ts'
import { screens } from '../../src/web/screens.ts'

/** A view with its own address: every screen with its other addresses, and the parts of the settings. */
export interface View {
  /** Valid as a file name. */
  readonly name: string
  readonly path: string
  /** The screen that it belongs to. */
  readonly screen: string
  readonly access: Access
}

/** All views, generated from the table of screens, so that a new screen is included. */
export function viewsOf(ids: Readonly<Record<string, string | number>>): readonly View[] {
  const ofScreens = screens.flatMap((screen) =>
    [screen.path, ...(screen.also ?? [])].map((path) => ({
      path: path.replace(/\$(\w+)/g, (_, name: string) => String(ids[name] ?? 0)),
      screen: screen.path,
      access: screen.access,
    })),
  )
  const settings = { screen: '/setting', access: 'admin' } as const
  const ofSettings = [
    ...tabs.filter(({ value }) => value !== 'personal').map(({ value }) => ({ ...settings, path: `/setting?tab=${value}` })),
    ...['unset', 'options'].map((view) => ({ ...settings, path: `/setting?tab=prices&view=${view}` })),
  ]
  return [...ofScreens, ...ofSettings].map((view) => ({ ...view, name: nameOf(view.path) }))
}

function nameOf(path: string): string {
  return path.replace(/^\//, '').replace(/[^a-z0-9]+/gi, '-') || 'home'
}
