import { z } from 'zod'
import { organisationRoles } from '../organisation-roles.ts'

export const signOnLimits = { domainsMax: 20, rulesMax: 500, groupNameMax: 300 } as const

const text = (max: number) => z.string().trim().max(max)

/** What a group of the directory gives: a role, a place in a team, or both. */
export const directoryRule = z.object({
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
