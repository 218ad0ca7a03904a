import { useStatus } from '../../lib/status.ts'
import type { Offer } from './choices.tsx'

/** Frequent amounts in dollars below a field, each of which `choose` takes in units. */
export function useDollarOffers(): (usd: readonly number[], choose: (quota: number) => void) => Offer[] {
  const { quota_per_unit: perUsd } = useStatus()
  return (amounts, choose) => amounts.map((usd) => ({ label: `$${usd}`, onClick: () => choose(Math.round(usd * perUsd)) }))
}
