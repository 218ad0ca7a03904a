import { z } from 'zod'
import type { Fields, FieldsOf } from '../fields.ts'
import { organisationRoles } from '../organisation-roles.ts'
import type { Text } from '../text.ts'

const signOnLimits = { domainsMax: 20, rulesMax: 500, groupNameMax: 300 } as const

const text = (max: number) => z.string().trim().max(max)

/** What a group of the directory gives: a role, a place in a team, or both. */
const directoryRule = z.object({
  /** The name of the group, or its id in the directory. */
  directory_group: text(signOnLimits.groupNameMax).min(1),
  /** '' for none. */
  role: z.enum(['', ...organisationRoles]).default(''),
  /** 0 for none. */
  team_id: z.int().min(0).default(0),
  is_manager: z.boolean().default(false),
})
export type DirectoryRule = z.output<typeof directoryRule>

export const signOnInput = z.object({
  is_enabled: z.boolean(),
  /** The issuer of the OpenID provider; its discovery document is below it. */
  issuer: z.union([z.literal(''), z.url({ protocol: /^https$/ }).max(1000)]),
  client_id: text(500),
  /** Absent: it stays as it is. */
  client_secret: text(2000).optional(),
  /** The claim of the ID token that lists groups; '' for none. */
  group_claim: text(200).default(''),
  /** Whether a person that the site does not know gets an account. */
  creates_accounts: z.boolean().default(false),
  /** Whether accounts that the directory has created sign in there alone. */
  is_only_way: z.boolean().default(false),
})
export type SignOnInput = z.output<typeof signOnInput>

export const signOnFields = {
  issuer: {
    widget: 'identifier',
    label: { zh: '颁发者', en: 'Issuer' },
    help: {
      zh: 'OpenID 提供方的 https 地址，其配置位于该地址下的 /.well-known/openid-configuration。',
      en: 'The https address of the OpenID provider. Its configuration is at /.well-known/openid-configuration below it.',
    },
    required: { zh: '请输入颁发者', en: 'Enter the issuer' },
    max: 1000,
  },
  client_id: {
    widget: 'identifier',
    label: { zh: '客户端 ID', en: 'Client ID' },
    required: { zh: '请输入客户端 ID', en: 'Enter the client ID' },
    max: 500,
  },
  client_secret: { widget: 'secret', label: { zh: '客户端密钥', en: 'Client secret' }, max: 2000 },
  group_claim: {
    widget: 'identifier',
    label: { zh: '分组声明', en: 'Group claim' },
    help: {
      zh: 'ID 令牌中列出分组的声明，例如 groups 或 realm_access.roles；留空则不使用。',
      en: 'The claim that lists groups, such as groups or realm_access.roles. Leave it empty to use none.',
    },
    max: 200,
  },
  creates_accounts: {
    widget: 'switch',
    label: { zh: '为新人员创建账户', en: 'Create accounts' },
    help: { zh: '首次登录且本站没有账户的人员会获得一个账户。', en: 'Persons without an account get one at their first login.' },
  },
  is_only_way: {
    widget: 'switch',
    label: { zh: '只能通过组织登录', en: 'Require this login' },
    help: {
      zh: '由目录创建的账户不能再用密码、通行密钥或其他方式登录。',
      en: 'Accounts that the directory has created can no longer log in by password, passkey or in another way.',
    },
  },
  is_enabled: { widget: 'switch', label: { zh: '启用', en: 'Enabled' } },
} satisfies FieldsOf<SignOnInput>

export const domainField = {
  domain: {
    widget: 'identifier',
    label: { zh: '邮箱域名', en: 'Mail domain' },
    placeholder: { zh: 'example.com', en: 'example.com' },
    required: { zh: '请输入域名', en: 'Enter a domain' },
    max: 253,
  },
} satisfies Fields

export const domainLabels: Readonly<Record<'confirmed' | 'open', { label: Text; color: string }>> = {
  confirmed: { label: { zh: '已确认', en: 'Confirmed' }, color: 'green' },
  open: { label: { zh: '待站点管理员确认', en: 'Not confirmed by the site' }, color: 'yellow' },
}

/** `role` is '' and `team_id` '0' for none. */
export const ruleFields = {
  directory_group: {
    widget: 'identifier',
    label: { zh: '目录分组', en: 'Group of the directory' },
    help: { zh: '分组的名称，或其在目录中的 ID。', en: 'Its name, or its ID in the directory.' },
    required: { zh: '请输入分组', en: 'Enter a group' },
    max: signOnLimits.groupNameMax,
  },
  role: { widget: 'select', label: { zh: '角色', en: 'Role' } },
  team_id: { widget: 'select', label: { zh: '团队', en: 'Team' } },
  is_manager: { widget: 'switch', label: { zh: '团队负责人', en: 'Manages the team' } },
} satisfies Fields

/** How the people of an organisation sign in, and what its directory may do. */
export const signOn = signOnInput.omit({ client_secret: true }).extend({
  issuer: z.string(),
  has_secret: z.boolean(),
  /** To be entered at the provider; '' while the site has no server address. */
  redirect_uri: z.string(),
  /** Where its people begin to sign in. */
  login_url: z.string(),
  domains: z.array(z.object({ domain: z.string(), is_confirmed: z.boolean() })),
  rules: z.array(directoryRule),
  scim_url: z.string(),
  /** Times of the SCIM token, unix seconds; 0 for none. */
  scim_created_at: z.int(),
  scim_used_at: z.int(),
})
export type SignOn = z.output<typeof signOn>

export const domainsInput = z.object({ domains: z.array(text(253).min(1)).max(signOnLimits.domainsMax) })
export const domainConfirmation = z.object({ domain: text(253).min(1), is_confirmed: z.boolean() })
export const rulesInput = z.object({ rules: z.array(directoryRule).max(signOnLimits.rulesMax) })
