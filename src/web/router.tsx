import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { mayAccess } from '../contract/roles.ts'
import { sitePath } from './lib/base-path.ts'
import { usePayer } from './lib/payer.ts'
import { onReauthentication } from './lib/reauthenticate.ts'
import { isForPayer, type Screen } from './lib/screen.ts'
import { parseSearch, writeSearch } from './lib/search-params.ts'
import { currentUser, onSessionExpired, useMay, useSession } from './lib/session.ts'
import { NoPermission, NotFound, OfOtherPayer } from './screens/not-found/index.tsx'
import { screens } from './screens.ts'
import { requestReauthentication } from './ui/account/reauthentication.tsx'
import { ErrorView } from './ui/page/error-view.tsx'
import { Shell } from './ui/shell/shell.tsx'

/** Turns the table of screens into routes: each is loaded on demand and opens only for permitted roles. */

const root = createRootRoute({
  component: () => <Shell screens={screens} />,
  notFoundComponent: NotFound,
  errorComponent: ({ error, reset }) => <ErrorView error={error} onRetry={reset} />,
})

function routeOf(screen: Screen) {
  const content = {
    getParentRoute: () => root,
    beforeLoad: () => {
      if (screen.access !== 'public' && !currentUser()) throw redirect({ to: '/login' })
    },
    component: guarded(screen),
  }
  if (!screen.also) return createRoute({ ...content, path: screen.path })

  // The screen is mounted under the common part of its addresses, so it stays mounted when the address changes between them.
  const shared = createRoute({ ...content, id: screen.path })
  return shared.addChildren([screen.path, ...screen.also].map((path) => createRoute({ getParentRoute: () => shared, path })))
}

/** The screen for permitted roles. Its loader stays reachable, so that hovering over a link preloads it. */
function guarded(screen: Screen) {
  const { access, load } = screen
  const Content = lazyRouteComponent(load, 'Screen')
  function Guarded() {
    const payer = usePayer()
    const may = useMay(access)
    const mayAlone = mayAccess(useSession()?.role ?? 0, access)
    if (may && isForPayer(screen, payer)) return <Content key={payer?.id ?? 0} />
    return mayAlone ? <OfOtherPayer /> : <NoPermission />
  }
  return Object.assign(Guarded, {
    preload: () => (mayAccess(currentUser()?.role ?? 0, access) ? Content.preload?.() : undefined),
  })
}

export const router = createRouter({
  basepath: sitePath('/'),
  routeTree: root.addChildren(screens.map(routeOf)),
  parseSearch,
  stringifySearch: writeSearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
})

onSessionExpired(() => {
  if (router.state.location.pathname === '/login') return
  void router.navigate({ href: '/login?expired=true', replace: true })
})

onReauthentication(requestReauthentication)
