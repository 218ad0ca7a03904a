import { type TokenInput, tokenNameLengthMax } from '../../../contract/entities/token.ts'
import { fail } from '../../base/lib/failure.ts'
import { readAddressList } from '../../base/lib/net/addresses.ts'
import { readModelList } from './state.ts'

/**
 * The columns of a token that its owner sets, checked and in the form in which they are stored. Whether the owner may use the group
 * is for the caller to check. Throws `token_name_required`, `address_list_invalid` or `field_invalid`.
 */
export function readInput(input: TokenInput) {
  const name = [...input.name]
  if (name.length === 0 || name.length > tokenNameLengthMax) fail('token_name_required')

  const addresses = readAddressList(input.allow_ips)
  if ('invalid' in addresses) fail('address_list_invalid', { entry: addresses.invalid })

  const models = readModelList(input.model_limits)
  if (input.model_limits_enabled && models.length === 0) {
    fail('field_invalid', { field: 'model_limits', reason: { zh: '请至少选择一个模型', en: 'choose at least one model' } })
  }

  return {
    name: input.name,
    expired_time: input.expired_time,
    remain_quota: input.remain_quota,
    unlimited_quota: Number(input.unlimited_quota),
    model_limits_enabled: Number(input.model_limits_enabled),
    model_limits: models.join(','),
    allow_ips: input.allow_ips
      .split(/[\s,]+/)
      .filter(Boolean)
      .join('\n'),
    group: input.group,
    ...laterFields(input),
  }
}

/** Fields that other consoles of this family do not know: an omitted one stays unchanged. */
function laterFields(input: TokenInput) {
  const { limit_seconds, limit_requests, limit_tokens, limit_concurrency, strict_translation, refuse_hosted_tools, resumable } =
    input
  return {
    ...(limit_seconds === undefined ? {} : { limit_seconds }),
    ...(limit_requests === undefined ? {} : { limit_requests }),
    ...(limit_tokens === undefined ? {} : { limit_tokens }),
    ...(limit_concurrency === undefined ? {} : { limit_concurrency }),
    ...(strict_translation === undefined ? {} : { strict_translation: Number(strict_translation) }),
    ...(refuse_hosted_tools === undefined ? {} : { refuse_hosted_tools: Number(refuse_hosted_tools) }),
    ...(resumable === undefined ? {} : { resumable: Number(resumable) }),
  }
}
