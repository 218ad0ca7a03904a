import { createContext, type RefObject } from 'react'

/** What a form tells the drawer around it. */
export interface DrawerHold {
  /** Something was typed; closing asks first. */
  dirty: boolean
  /** A save is under way; it cannot be closed. */
  busy: boolean
}

export const SideDrawerContext = createContext<{ close: () => void; hold: RefObject<DrawerHold> } | undefined>(undefined)
