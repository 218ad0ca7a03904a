import { useStatus } from '../../lib/status.ts'
import type { Offer } from '../form/choices.tsx'

const presetsUsd = [1, 5, 10, 50, 100]

/** Frequent amounts of a budget, in units of which `choose` takes the text. */
export function useAmountOffers(choose: (units: string) => void): Offer[] {
  const { quota_per_unit: perUsd } = useStatus()
  return presetsUsd.map((usd) => ({ label: `$${usd}`, onClick: () => choose(String(Math.round(usd * perUsd))) }))
}
