import { z } from 'zod'
import type { Fields, FieldsOf } from '../fields.ts'
import type { Text } from '../text.ts'
import { units } from '../units.ts'
import { tokenNameLengthMax } from './token.ts'

export const userStatus = { active: 1, banned: 2, locked: 3 } as const

export const userStatusLabels: Readonly<Record<number, { label: Text; color: string }>> = {
  1: { label: { zh: '已激活', en: 'Active' }, color: 'green' },
  2: { label: { zh: '已封禁', en: 'Banned' }, color: 'red' },
  3: { label: { zh: '已锁定', en: 'Locked' }, color: 'orange' },
}

export const passwordLength = { min: 8, max: 20 } as const
export const usernameLengthMax = 12
export const displayNameLengthMax = 20
/** Seconds until a code or link may be mailed to the same address again. */
export const resendSeconds = 30

/** A user as the console shows it: no password, no access token, no secret of the settings. */
export const user = z.object({
  id: z.int(),
  username: z.string(),
  display_name: z.string(),
  /** Always blank: consoles send back the members that they read, and blank keeps the stored one. */
  password: z.literal(''),
  role: z.int(),
  status: z.int(),
  email: z.string(),
  github_id: z.string(),
  wechat_id: z.string(),
  telegram_id: z.string(),
  linux_do_id: z.string(),
  oidc_id: z.string(),
  group: z.string(),
  quota: z.int(),
  used_quota: z.int(),
  request_count: z.int(),
  aff_code: z.string(),
  aff_count: z.int(),
  aff_quota: z.int(),
  aff_history_quota: z.int(),
  inviter_id: z.int(),
  setting: z.string(),
  created_time: z.int(),
  DeletedAt: z.string().nullable(),
  /** Fields that existing clients expect; always empty here. */
  verification_code: z.literal(''),
  access_token: z.null(),
})
export type User = z.output<typeof user>

/**
 * What the console shows of organisations: `own` where the user belongs to one, `site` for an admin who belongs to none on a site
 * that has some. Absent for all others, who see nothing of them.
 */
export const shownOrganisations = z.enum(['own', 'site']).optional()
export type ShownOrganisations = z.output<typeof shownOrganisations>

/** The result of a login, which the console stores under `user`. */
export const signedInUser = z.object({
  id: z.int(),
  username: z.string(),
  display_name: z.string(),
  role: z.int(),
  status: z.int(),
  group: z.string(),
  default_password: z.boolean(),
  organisations: shownOrganisations,
})
export type SignedInUser = z.output<typeof signedInUser>

/** A session in a browser, as its user sees it. */
export const ownSession = z.object({
  id: z.int(),
  created_at: z.int(),
  seen_at: z.int(),
  address: z.string(),
  user_agent: z.string(),
  current: z.boolean(),
})
export type OwnSession = z.output<typeof ownSession>

/** Figures that lists of users can be sorted by. */
export const userSorts = ['id', 'quota', 'used_quota', 'request_count', 'aff_count'] as const

/** The members of a user that an admin may change. Absent and empty mean unchanged; all others that consoles send back are ignored. */
export const userEdit = z.object({
  id: z.int().positive(),
  username: z.string().trim().max(100).optional(),
  display_name: z.string().trim().max(200).optional(),
  group: z.string().trim().max(64).optional(),
  password: z.string().max(100).optional(),
  /** In units. If `used_quota` of the same moment is sent too, quota spent since then stays spent. */
  quota: z.int().optional(),
  used_quota: z.int().optional(),
  /** Why the quota is changed. */
  reason: z.string().trim().max(200).optional(),
})
export type UserEdit = z.output<typeof userEdit>

const displayNameLabel = { zh: '显示名称', en: 'Display name' }
const amount = { widget: 'number', unit: units.quota, min: 0 } as const
const groupLabel = { zh: '分组', en: 'Group' }
const passwordLabel = { zh: '密码', en: 'Password' }
const needed = { zh: '用户名和密码不能为空！', en: 'Username and password cannot be empty' }
const username = { widget: 'identifier', label: { zh: '用户名', en: 'Username' }, required: needed } as const

export const newUserFields = {
  username,
  display_name: {
    widget: 'identifier',
    label: displayNameLabel,
    help: { zh: '留空则与用户名相同', en: 'Defaults to the username' },
  },
  password: {
    widget: 'secret',
    label: passwordLabel,
    help: { zh: '8 到 20 个字符，不能是常见密码', en: '8 to 20 characters. Common passwords are refused.' },
    required: needed,
  },
  group: { widget: 'select', label: groupLabel },
  quota: {
    ...amount,
    label: { zh: '额度', en: 'Quota' },
    help: { zh: '加在新用户赠送额度之上', en: 'Added to the bonus of new users' },
  },
  daily_budget: {
    ...amount,
    label: { zh: '每日预算', en: 'Daily budget' },
    help: { zh: '留空不限', en: 'Leave blank for no limit' },
  },
  token_name: {
    widget: 'text',
    label: { zh: '令牌', en: 'Token' },
    help: { zh: '同时创建此名称的令牌，留空则不创建', en: 'Also creates a token of this name. Leave blank for none.' },
    max: tokenNameLengthMax,
  },
} satisfies Fields

export const userEditFields = {
  username,
  password: {
    widget: 'secret',
    label: passwordLabel,
    help: {
      zh: '留空则保持不变。修改后该用户会退出所有登录，并须在下次登录后修改密码。',
      en: 'Leave blank to keep the password. A new one logs the user out of all devices and must be changed at the next login.',
    },
  },
  display_name: { widget: 'identifier', label: displayNameLabel },
  group: { widget: 'select', label: groupLabel },
} satisfies FieldsOf<UserEdit>

export const manageActions = ['enable', 'disable', 'promote', 'demote', 'delete', 'sign_out', 'unlock', 'reset_factors'] as const
export type ManageAction = (typeof manageActions)[number]

/** Actions on several users at once. */
export const userBatch = z.object({
  ids: z.array(z.int().positive()).min(1).max(1000),
  action: z.enum(['enable', 'disable', 'delete', 'group']),
  /** The new group, for the action `group`. */
  group: z.string().trim().max(64).default(''),
})
export type UserBatch = z.output<typeof userBatch>

/** The result for one user. */
export const userBatchResult = z.object({
  id: z.int(),
  done: z.boolean(),
  /** Why it failed, in the language of the caller; '' when it is done. */
  message: z.string(),
})
export type UserBatchResult = z.output<typeof userBatchResult>
