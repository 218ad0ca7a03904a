import { formatQuota, type Rounding } from '../../../contract/quota.ts'
import type { Core } from '../../base/options/core.ts'

/** An amount of units as log rows, mails and messages name it. */
export function quotaText({ options }: Pick<Core, 'options'>, units: number, rounding?: Rounding): string {
  const { DisplayInCurrencyEnabled: inCurrency, QuotaPerUnit: perUsd } = options.current
  return formatQuota(units, { inCurrency, perUsd }, rounding)
}
