import { z } from 'zod'
import { choicesOf, type Fields } from '../fields.ts'
import { nameText } from '../name-text.ts'
import { organisationCallerLabels, organisationRoles } from '../organisation-roles.ts'
import { quotaMax } from '../quota.ts'
import type { Text } from '../text.ts'
import { units } from '../units.ts'

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

const nameField = {
  widget: 'text',
  label: { zh: '名称', en: 'Name' },
  required: { zh: '请输入名称', en: 'Enter a name' },
  max: organisationLimits.nameLengthMax,
} as const
const groupLabel = { zh: '分组', en: 'Group' }
const quotaField = { widget: 'number', unit: units.quota, label: { zh: '额度', en: 'Quota' } } as const

export const newOrganisationFields = {
  name: { ...nameField, help: { zh: '日志中显示为 @名称。', en: 'The log shows it with @ before it.' } },
  group: { widget: 'select', label: groupLabel },
  quota: { ...quotaField, min: 0 },
} satisfies Fields
/** An owner changes the name; an admin of the site the group too. */
export const organisationFields = { name: nameField, group: { widget: 'select', label: groupLabel } } satisfies Fields
/** What a super admin adds to a balance, or takes from it. */
export const organisationQuotaFields = {
  change: {
    ...quotaField,
    label: { zh: '增减额度', en: 'Change' },
    help: { zh: '负数为扣减。', en: 'A negative amount is taken away.' },
    required: { zh: '请输入额度', en: 'Enter an amount' },
  },
  reason: { widget: 'text', label: { zh: '原因', en: 'Reason' }, max: 200 },
} satisfies Fields

export const organisationStatusLabels: Readonly<Record<number, { label: Text; color: string }>> = {
  1: { label: { zh: '正常', en: 'Active' }, color: 'green' },
  2: { label: { zh: '已停用', en: 'Suspended' }, color: 'red' },
}

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
/** Of a new team and of a saved one; `parent_id` is '0' at the top. */
export const teamFields = {
  name: nameField,
  parent_id: { widget: 'select', label: { zh: '上级团队', en: 'Part of' } },
} satisfies Fields
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

const { operator: _operator, ...memberRoleLabels } = organisationCallerLabels
export const invitationFields = {
  email: {
    widget: 'identifier',
    label: { zh: '邮箱', en: 'Email address' },
    help: { zh: '留空则生成一个可转发的链接。', en: 'Leave blank for a link to pass on.' },
    max: 100,
  },
  role: { widget: 'select', label: { zh: '角色', en: 'Role' }, choices: choicesOf(memberRoleLabels) },
  team_id: { widget: 'select', label: { zh: '团队', en: 'Team' } },
  days: { widget: 'whole', label: { zh: '有效天数', en: 'Days until it expires' }, min: 1, max: 90 },
} satisfies Fields
export const memberRoleFields = { role: invitationFields.role } satisfies Fields

/** The answers of invitations; '' is none yet. */
export const invitationAnswerLabels: Readonly<Record<string, { label: Text; color: string }>> = {
  '': { label: { zh: '待答复', en: 'Open' }, color: 'blue' },
  accepted: { label: { zh: '已接受', en: 'Accepted' }, color: 'green' },
  declined: { label: { zh: '已拒绝', en: 'Declined' }, color: 'gray' },
  withdrawn: { label: { zh: '已撤回', en: 'Withdrawn' }, color: 'gray' },
  expired: { label: { zh: '已过期', en: 'Expired' }, color: 'yellow' },
}
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

export const allowanceScopeLabels: Readonly<Record<AllowanceScope, Text>> = {
  organisation: { zh: '整个组织', en: 'Organisation' },
  team: { zh: '团队', en: 'Team' },
  member: { zh: '成员', en: 'Member' },
}

/** `scope` and `subject_id` name the place, which a saved allowance keeps. */
export const allowanceFields = {
  scope: {
    widget: 'select',
    label: { zh: '适用于', en: 'Applies to' },
    choices: choicesOf(allowanceScopeLabels),
    onlyNew: true,
  },
  team: { widget: 'select', label: { zh: '团队', en: 'Team' }, when: { scope: ['team'] }, onlyNew: true },
  member: { widget: 'select', label: { zh: '成员', en: 'Member' }, when: { scope: ['member'] }, onlyNew: true },
  models: {
    widget: 'choices',
    label: { zh: '可用模型', en: 'Models' },
    placeholder: { zh: '全部', en: 'All' },
  },
  groups: {
    widget: 'choices',
    label: { zh: '可用分组', en: 'Groups' },
    placeholder: { zh: '全部', en: 'All' },
  },
  tokens_max: {
    widget: 'whole',
    label: { zh: '每个成员的令牌数', en: 'Tokens of one member' },
    placeholder: { zh: '不限', en: 'Any number' },
    max: organisationLimits.tokensMax,
  },
  days_max: {
    widget: 'whole',
    label: { zh: '令牌最长有效天数', en: 'Days that a token lives' },
    placeholder: { zh: '不限', en: 'Any number' },
    max: organisationLimits.daysMax,
  },
  is_strict: {
    widget: 'switch',
    label: { zh: '严格转换', en: 'Strict translation' },
    help: {
      zh: '若渠道的协议无法完整表达请求，则拒绝请求。',
      en: 'Refuses requests that a channel’s protocol does not fully support.',
    },
  },
} satisfies Fields
