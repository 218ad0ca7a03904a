import { z } from 'zod'
import { nameText } from '../name-text.ts'
import { organisationRoles } from '../organisation-roles.ts'
import { quotaMax } from '../quota.ts'

export const organisationLimits = {
  nameLengthMax: 40,
  teamDepthMax: 5,
  teamsMax: 500,
  invitationDays: 7,
  tokensMax: 10_000,
  daysMax: 3650,
} as const

const name = z.string().max(1000).transform(nameText).pipe(z.string().min(1).max(organisationLimits.nameLengthMax))
const id = z.int().positive()
const role = z.enum(organisationRoles)

/** An organisation as those see it who may call for it. */
export const organisation = z.object({
  id: z.int(),
  name: z.string(),
  /** What stands in log rows: the name with `@` before it. */
  username: z.string(),
  group: z.string(),
  /** 1 active, 2 suspended. */
  status: z.int(),
  quota: z.int(),
  used_quota: z.int(),
  request_count: z.int(),
  members: z.int(),
  created_time: z.int(),
  /** The role of the caller; `operator` for an admin of the site who is no member. */
  role: z.enum([...organisationRoles, 'operator']),
  /** The id of the caller as a member; 0 for an operator. */
  member_id: z.int(),
  /** The user to whom an owner has offered the organisation; 0 for none. */
  transfer_to: z.int(),
})
export type Organisation = z.output<typeof organisation>

export const newOrganisation = z.object({
  name,
  /** '' for the default group. */
  group: z.string().trim().max(64).default(''),
  /** Units to begin with; only super admins may give any. */
  quota: z.int().min(0).max(quotaMax).default(0),
})
export const organisationEdit = z.object({
  id,
  name: name.optional(),
  group: z.string().trim().min(1).max(64).optional(),
  status: z.union([z.literal(1), z.literal(2)]).optional(),
})
export type OrganisationEdit = z.output<typeof organisationEdit>

export const organisationMember = z.object({
  id: z.int(),
  user_id: z.int(),
  username: z.string(),
  display_name: z.string(),
  role,
  /** When the member joined, unix seconds. */
  created_at: z.int(),
  invited_by: z.string(),
  teams: z.array(z.object({ id: z.int(), name: z.string(), is_manager: z.boolean() })),
  tokens: z.int(),
})
export type OrganisationMember = z.output<typeof organisationMember>

export const team = z.object({
  id: z.int(),
  parent_id: z.int(),
  name: z.string(),
  members: z.int(),
  tokens: z.int(),
  /** Whether the caller may manage it: as an owner or admin, or as a manager of it or of a team above. */
  may_manage: z.boolean(),
})
export type Team = z.output<typeof team>
export const teamInput = z.object({ name, parent_id: z.int().min(0).default(0) })
export const teamEdit = z.object({ team_id: id, name: name.optional(), parent_id: z.int().min(0).optional() })
export const teamMembership = z.object({ team_id: id, member_id: id, is_manager: z.boolean().default(false) })

export const invitation = z.object({
  id: z.int(),
  email: z.string(),
  role,
  team_id: z.int(),
  team_name: z.string(),
  invited_by: z.string(),
  created_at: z.int(),
  expires_at: z.int(),
  /** '' while it can be accepted, else `accepted`, `declined`, `withdrawn` or `expired`. */
  answer: z.string(),
})
export type Invitation = z.output<typeof invitation>
export const invitationInput = z.object({
  /** '' for a link to pass on. */
  email: z.string().trim().max(100).default(''),
  role: role.default('member'),
  team_id: z.int().min(0).default(0),
  days: z.int().min(1).max(90).default(organisationLimits.invitationDays),
})
export type InvitationInput = z.output<typeof invitationInput>
/** With the secret of its link, which is shown once, and whether it was mailed. */
export const sentInvitation = invitation.extend({ secret: z.string(), mailed: z.boolean() })

/** What somebody sees who opens the link of an invitation. */
export const invitationShown = invitation
  .pick({ email: true, role: true, invited_by: true, expires_at: true, answer: true })
  .extend({ organisation_id: z.int(), organisation: z.string() })

/** Whose tokens an allowance is for: all, those of a team and the teams below, or those of one member. */
const allowanceScopes = ['organisation', 'team', 'member'] as const
export type AllowanceScope = (typeof allowanceScopes)[number]

const names = z.array(z.string().trim().min(1).max(200)).max(500)
export const allowance = z.object({
  scope: z.enum(allowanceScopes),
  /** The id of the organisation, team or member. */
  subject_id: id,
  /** Models and groups that tokens may use; none listed are all. */
  models: names.default([]),
  groups: names.default([]),
  /** Tokens that one member may have; -1 for any number. */
  tokens_max: z.int().min(-1).max(organisationLimits.tokensMax).default(-1),
  /** Days after its creation for which a token may be used; 0 for ever. */
  days_max: z.int().min(0).max(organisationLimits.daysMax).default(0),
  /** Requests are refused where the protocol of the channel cannot carry all of them. */
  is_strict: z.boolean().default(false),
})
export type Allowance = z.output<typeof allowance>
