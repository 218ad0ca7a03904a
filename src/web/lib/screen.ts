import type { Icon } from '@tabler/icons-react'
import type { ComponentType, ReactNode } from 'react'
import type { SignedInUser } from '../../contract/entities/user.ts'
import type { OrganisationCaller } from '../../contract/organisation-roles.ts'
import type { PagePath } from '../../contract/pages.ts'
import type { Access } from '../../contract/route.ts'
import type { Status } from '../../contract/status.ts'
import type { Text } from '../../contract/text.ts'
import { isAmong, type Payer } from './payer.ts'

export type NavGroup = 'work' | 'account' | 'records' | 'site'

export const navGroups: Readonly<Record<NavGroup, Text>> = {
  work: { zh: '工作台', en: 'Workspace' },
  account: { zh: '账户与额度', en: 'Accounts and quota' },
  records: { zh: '记录', en: 'Records' },
  site: { zh: '系统', en: 'System' },
}

/** An entry of the sidebar. */
interface Place {
  readonly group: NavGroup
  /** It is of the organisation that pays, and hidden without one. */
  readonly isOfOrganisation?: true
  /** Whether the site offers it; it is hidden otherwise. */
  readonly flag?: (status: Status, user: SignedInUser | null) => boolean
  /** Shown behind its name, such as a number of things that wait. */
  readonly Badge?: ComponentType
  /** Its sub-entries, whose names the site configures. A single one replaces the entry. */
  readonly parts?: (status: Status) => readonly Part[]
}

export interface Part {
  readonly name: string
  readonly path: string
}

/** Whether a screen shows something of who pays. */
export function isForPayer({ roles }: Screen, payer: Payer | null): boolean {
  return payer === null || roles === undefined || isAmong(roles, payer.role)
}

/** Whether the bar at the top shows a screen. */
export function isOnTop({ top }: Pick<Screen, 'top'>, status: Status): boolean {
  return typeof top === 'function' ? top(status) : top === true
}

/** One screen of the console; `screens.ts` holds them all. */
export interface Screen {
  readonly path: PagePath
  /** Other addresses of the same screen, which stays mounted between them; such as the one that opens its form. */
  readonly also?: readonly PagePath[]
  readonly access: Access
  /** The page title, its name in the navigation and in the palette. */
  readonly label: Text
  readonly icon: Icon
  readonly nav?: Place
  /** Shown in the bar at the top; a function returns whether the site offers it. */
  readonly top?: true | ((status: Status) => boolean)
  /**
   * Who opens it while an organisation pays, by the role in it; nobody where it is about the user alone. Absent: it is about neither.
   */
  readonly roles?: readonly OrganisationCaller[]
  readonly load: () => Promise<{ readonly Screen: () => ReactNode }>
}
