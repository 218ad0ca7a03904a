import { Menu, type MenuProps } from '@mantine/core'
import { useEffect, useState } from 'react'

/**
 * A menu that opens as it appears, in place of a plain button. Its own button must have `autoFocus`, so that the focus returns to it
 * when the menu is closed.
 */
export function OpeningMenu(menu: MenuProps) {
  const [opened, setOpened] = useState(false)
  // The focus is outside of React: a menu records the element to return to only when it opens from a closed state.
  useEffect(() => setOpened(true), [])
  return <Menu position="bottom-end" {...menu} opened={opened} onChange={setOpened} />
}
