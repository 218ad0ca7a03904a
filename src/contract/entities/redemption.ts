import { z } from 'zod'
import type { FieldsOf } from '../fields.ts'
import { nameText } from '../name-text.ts'
import { quotaMax } from '../quota.ts'
import type { Text } from '../text.ts'
import { units } from '../units.ts'

export const redemptionStatus = { unused: 1, disabled: 2, used: 3 } as const

export const redemptionStatusLabels: Readonly<Record<number, { label: Text; color: string }>> = {
  1: { label: { zh: '未使用', en: 'Unused' }, color: 'green' },
  2: { label: { zh: '已禁用', en: 'Disabled' }, color: 'red' },
  3: { label: { zh: '已使用', en: 'Used' }, color: 'gray' },
}

/** Filters of code lists: the states of a code, and codes that expired unused. */
export const redemptionFilters = { ...redemptionStatus, expired: 4 } as const

export const redemptionDefaults = { quota: 100_000, count: 1 } as const
export const redemptionNameLengthMax = 20
export const redemptionCountMax = 100
/** 20 million US dollars at the usual 500,000 units each: sums of many such credits stay within the safe integers. */

/** A redemption code as admins see it. `user_id` created it; `used_user_id` is 0 until it is redeemed. */
export const redemption = z.object({
  id: z.int(),
  user_id: z.int(),
  username: z.string(),
  used_username: z.string(),
  key: z.string(),
  status: z.int(),
  name: z.string(),
  quota: z.int(),
  created_time: z.int(),
  redeemed_time: z.int(),
  used_user_id: z.int(),
  /** Unix seconds of expiry; 0 is never. */
  expired_time: z.int(),
  /** The number of codes to create, present in requests only. */
  count: z.literal(0),
  /** Deleted ones are not shown. */
  DeletedAt: z.null(),
})
export type Redemption = z.output<typeof redemption>

/** Columns that lists of codes can be sorted by. */
export const redemptionSorts = ['id', 'name', 'quota', 'created_time', 'expired_time', 'redeemed_time'] as const
export type RedemptionSort = (typeof redemptionSorts)[number]

const nameRule = { zh: '兑换码名称长度须为 1 到 20 个字符', en: 'must have 1 to 20 characters' }
const name = z
  .string()
  .max(1000)
  .transform(nameText)
  .refine((text) => text !== '' && [...text].length <= redemptionNameLengthMax, { error: nameRule.en, params: nameRule })

/**
 * The members of a code that an admin may set. Consoles without support for expiry omit it: it then stays unchanged, and a new code
 * never expires.
 */
export const redemptionInput = z.object({
  name,
  quota: z.int().min(1).max(quotaMax),
  expired_time: z.int().min(0).max(1e11).optional(),
})
export type RedemptionInput = z.output<typeof redemptionInput>

export const redemptionFields = {
  name: {
    widget: 'text',
    label: { zh: '名称', en: 'Name' },
    placeholder: { zh: '留空则以额度命名，如 {name}', en: 'Named after its quota if blank: {name}' },
  },
  quota: { widget: 'number', label: { zh: '额度', en: 'Quota' }, unit: units.quota, min: 1, required: true },
  expired_time: { widget: 'own' },
  count: {
    widget: 'amount',
    label: { zh: '生成数量', en: 'Quantity' },
    help: { zh: `一次最多 ${redemptionCountMax} 个。`, en: `At most ${redemptionCountMax} at once.` },
    onlyNew: true,
  },
} satisfies FieldsOf<RedemptionInput & { count: number }>
