import type { Text } from './text.ts'

/** What a member of an organisation is in it, from the highest role to the lowest. */
export const organisationRoles = ['owner', 'admin', 'billing', 'member'] as const
export type OrganisationRole = (typeof organisationRoles)[number]

/** Who makes a call about an organisation: a member in a role, or an admin of the site, who is none. */
export type OrganisationCaller = OrganisationRole | 'operator'

export const organisationCallerLabels: Readonly<Record<OrganisationCaller, Text>> = {
  owner: { zh: '所有者', en: 'Owner' },
  admin: { zh: '管理员', en: 'Admin' },
  billing: { zh: '财务', en: 'Billing' },
  member: { zh: '成员', en: 'Member' },
  operator: { zh: '站点管理员', en: 'Site admin' },
}

/** The sets of roles that routes declare. */
export const organisationAccess = {
  /** Everybody who belongs to it. */
  insiders: ['owner', 'admin', 'billing', 'member', 'operator'],
  /** Keys and calls: not the billing role, and not the site. */
  callers: ['owner', 'admin', 'member'],
  /** The log: all of it, or that of the own tokens. */
  logReaders: ['owner', 'admin', 'member', 'operator'],
  /** Members, teams, budgets and what members may do. */
  managers: ['owner', 'admin', 'operator'],
  /** A manager of a team is a member; the handler checks of which team. */
  teamManagers: ['owner', 'admin', 'member', 'operator'],
  /** The wallet. */
  payers: ['owner', 'billing'],
  /** Sums and statements. */
  accountants: ['owner', 'admin', 'billing', 'operator'],
  owners: ['owner', 'operator'],
} as const satisfies Readonly<Record<string, readonly OrganisationCaller[]>>

/** The header that names the organisation which a console call is for. */
export const organisationHeader = 'x-organisation-id'
