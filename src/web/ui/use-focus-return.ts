import { useEffect, useState } from 'react'
import { lastFocused } from '../lib/restore-focus.ts'

/**
 * What had the focus before this opened has it again when this is gone. For what is drawn open and goes at once: the library gives the
 * focus back only to what it saw opening and closing.
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

/** An item of a menu is gone soon; what has opened its menu stays. */
function openerNow(): HTMLElement | null | undefined {
  const menu = lastFocused()?.closest('[role=menu]')?.getAttribute('aria-labelledby')
  return menu ? document.getElementById(menu) : lastFocused()
}
