import { useEffect, useState } from 'react'
import { lastFocused } from '../../lib/restore-focus.ts'

/**
 * Returns the focus to the element that had it before. For components that mount open and unmount at once: the library only restores
 * it when it sees opening and closing.
 */
export function useFocusReturn(): void {
  const [opener] = useState(openerNow)
  // Outside of React: the focus.
  useEffect(
    () => () =>
      void setTimeout(() => {
        if (document.activeElement === document.body && opener?.isConnected) opener.focus({ preventScroll: true })
      }),
    [opener],
  )
}

/** A menu item vanishes; the opener of its menu stays. */
function openerNow(): HTMLElement | null | undefined {
  const menu = lastFocused()?.closest('[role=menu]')?.getAttribute('aria-labelledby')
  return menu ? document.getElementById(menu) : lastFocused()
}
