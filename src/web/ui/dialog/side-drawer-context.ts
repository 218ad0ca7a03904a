import { createContext, type ReactNode, type RefObject } from 'react'

export interface SideDrawerProps<Subject> {
  /** Its subject. It is open while there is one. */
  readonly subject: Subject | undefined
  readonly title: (subject: Subject) => string
  readonly onClose: () => void
  readonly wide?: boolean
  /** Usually a `<DrawerForm>`, which may be loaded lazily when the drawer first opens. Reset each time the drawer opens. */
  readonly children: (subject: Subject) => ReactNode
}

/** A form's state for the drawer around it. */
export interface DrawerHold {
  /** Something was typed; closing asks first. */
  dirty: boolean
  /** A save is under way; it cannot be closed. */
  busy: boolean
}

export const SideDrawerContext = createContext<{ close: () => void; hold: RefObject<DrawerHold> } | undefined>(undefined)
