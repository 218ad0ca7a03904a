import { lazy, Suspense, useState } from 'react'
import type { SideDrawerProps } from './side-drawer-context.ts'
import type { SideDrawerPanel } from './side-drawer-panel.tsx'

// A lazy component forgets the type parameter; the props are those of the panel.
const Panel = lazy(async () => ({
  default: (await import('./side-drawer-panel.tsx')).SideDrawerPanel,
})) as unknown as typeof SideDrawerPanel

/** A panel at the side of a list, loaded when it is first opened. */
export function SideDrawer<Subject>(props: SideDrawerProps<Subject>) {
  const [wasOpened, setWasOpened] = useState(false)
  const isOpen = props.subject !== undefined
  if (isOpen && !wasOpened) setWasOpened(true)
  if (!isOpen && !wasOpened) return null
  return (
    <Suspense>
      <Panel {...props} />
    </Suspense>
  )
}
