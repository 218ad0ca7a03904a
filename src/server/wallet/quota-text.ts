import { formatQuota } from '../../contract/quota.ts'
import type { Core } from '../options/core.ts'

/** An amount of units as log rows and messages name it, with the digits that a small amount needs. */
export function quotaText({ options }: Pick<Core, 'options'>, units: number): string {
  const { DisplayInCurrencyEnabled: inCurrency, QuotaPerUnit: perUsd } = options.current
  return formatQuota(units, { inCurrency, perUsd }, 6)
}
