import type { useForm } from '@mantine/form'
import { limitSecondsMax, requestCountMax } from '../../../contract/entities/request-limit.ts'
import { neverExpires, type Token, tokenNameLengthMax, tokenPresets } from '../../../contract/entities/token.ts'
import type { ErrorCode } from '../../../contract/errors.ts'
import { textOf } from '../../lib/i18n.ts'
import { faultOfExpiry } from '../../ui/form/expiry-field.tsx'
import { limitTexts } from './limit-texts.ts'
import { texts } from './texts.ts'

/** The values of the form, their conversion from and to a token, and their validation. */
export interface TokenValues {
  name: string
  /** Ids of the member and team of a token that an organisation pays for; 0 is none. */
  member_id: string
  team_id: string
  /** Unix seconds; undefined is never. */
  expired_time: number | undefined
  /** Text while it is being typed. */
  remain_quota: number | string
  unlimited_quota: boolean
  /** The number of tokens to create; for new ones only. */
  count: number | string
  allow_ips: string
  model_limits_enabled: boolean
  model_limits: string[]
  /** '' is the user's own. */
  group: string
  /** Whether there are limits at all. The numbers are text while they are being typed; 0 is no limit. */
  limited: boolean
  limit_seconds: number | string
  limit_requests: number | string
  limit_tokens: number | string
  limit_concurrency: number | string
  strict_translation: boolean
  refuse_hosted_tools: boolean
  resumable: boolean
}

/** The context of the parts of the form. */
export type TokenFormState = Pick<
  ReturnType<typeof useForm<TokenValues>>,
  'values' | 'errors' | 'getInputProps' | 'setFieldValue'
>

const countMax = 1000
const limitSeconds = 60
/** A hyphen and six characters. */
const suffixLength = 7

export const newToken: TokenValues = {
  name: '',
  member_id: '0',
  team_id: '0',
  expired_time: undefined,
  remain_quota: tokenPresets.quota,
  unlimited_quota: false,
  count: 1,
  allow_ips: '',
  model_limits_enabled: false,
  model_limits: [],
  group: '',
  limited: false,
  limit_seconds: limitSeconds,
  limit_requests: 0,
  limit_tokens: 0,
  limit_concurrency: 0,
  strict_translation: false,
  refuse_hosted_tools: false,
  resumable: false,
}

export function valuesOf(token: Token): TokenValues {
  const { name, expired_time, remain_quota, unlimited_quota, allow_ips, model_limits_enabled, model_limits, group } = token
  const { limit_seconds, limit_requests, limit_tokens, limit_concurrency, strict_translation, refuse_hosted_tools, resumable } =
    token
  return {
    ...placeOf(token),
    ...{ name, remain_quota, unlimited_quota, allow_ips, model_limits_enabled, group },
    ...{ limit_seconds, limit_requests, limit_tokens, limit_concurrency, strict_translation, refuse_hosted_tools, resumable },
    limited: limit_requests + limit_tokens + limit_concurrency > 0,
    expired_time: expired_time === neverExpires ? undefined : expired_time,
    model_limits: model_limits.split(',').filter((model) => model !== ''),
    count: 1,
  }
}

/** Where a token of an organisation belongs. */
export function placeOf({ member_id = 0, team_id = 0 }: Partial<Pick<Token, 'member_id' | 'team_id'>>) {
  return { member_id: String(member_id), team_id: String(team_id) }
}

export function bodyOf({ count: _count, limited, member_id: _member, team_id: _team, ...values }: TokenValues) {
  const limit = (typed: number | string) => (limited ? Number(typed) || 0 : 0)
  return {
    ...values,
    name: values.name.trim(),
    expired_time: values.expired_time ?? neverExpires,
    remain_quota: Number(values.remain_quota) || 0,
    model_limits: values.model_limits.join(','),
    limit_seconds: limited ? Number(values.limit_seconds) : limitSeconds,
    limit_requests: limit(values.limit_requests),
    limit_tokens: limit(values.limit_tokens),
    limit_concurrency: limit(values.limit_concurrency),
  }
}

/** The reasons by field; empty when all is well. */
export function faultsOf(values: TokenValues) {
  const { name, remain_quota, unlimited_quota, expired_time, count, model_limits_enabled, model_limits } = values
  const say = (key: keyof typeof texts, max = 0) => textOf(texts, key, { max })
  const quota = remain_quota === '' ? -1 : Number(remain_quota)
  const wanted = Number(count)
  const nameMax = wanted > 1 ? tokenNameLengthMax - suffixLength : tokenNameLengthMax
  const nameLength = [...name.trim()].length
  const faults: Partial<Record<keyof TokenValues, string | false | undefined>> = {
    name: (nameLength === 0 || nameLength > nameMax) && say('nameRequired', nameMax),
    remain_quota: !unlimited_quota && !(Number.isSafeInteger(quota) && quota >= 0) && say('quotaInvalid'),
    expired_time: faultOfExpiry(expired_time),
    count: !(Number.isInteger(wanted) && wanted >= 1 && wanted <= countMax) && say('countInvalid', countMax),
    model_limits: model_limits_enabled && model_limits.length === 0 && say('limitsRequired'),
    ...(values.limited ? faultsOfLimits(values) : {}),
  }
  return Object.fromEntries(Object.entries(faults).flatMap(([field, fault]) => (fault ? [[field, fault]] : [])))
}

function faultsOfLimits({ limit_seconds, limit_requests, limit_tokens, limit_concurrency }: TokenValues) {
  const fault = (typed: number | string, { min, max }: { min: number; max: number }) => {
    const isRight = Number.isInteger(Number(typed)) && Number(typed) >= min && Number(typed) <= max
    return !isRight && textOf(limitTexts, 'invalid', { min, max })
  }
  const amount = { min: 0, max: requestCountMax }
  const isEmpty = [limit_requests, limit_tokens, limit_concurrency].every((typed) => Number(typed) === 0)
  return {
    limit_requests: isEmpty ? textOf(limitTexts, 'empty') : fault(limit_requests, amount),
    limit_tokens: fault(limit_tokens, amount),
    limit_concurrency: fault(limit_concurrency, amount),
    limit_seconds: fault(limit_seconds, { min: 1, max: limitSecondsMax }),
  }
}

/** The form field of each error code of the server. */
export const fieldOfRefusal: Readonly<Record<string, keyof TokenValues>> = {
  token_name_required: 'name',
  group_forbidden: 'group',
  address_list_invalid: 'allow_ips',
} satisfies Partial<Record<ErrorCode, keyof TokenValues>>
