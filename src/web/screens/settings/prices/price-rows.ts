import type { PriceProposal, TokenPrices } from '../../../../contract/routes/pricing.ts'

/** The filters of the proposals, and their order. */
export type View = 'all' | 'up' | 'down' | 'unpriced'
export type PriceName = keyof TokenPrices

export interface Wanted {
  readonly search: string
  readonly view: View
  /** Sorts by the change of the input price, the largest first; otherwise by name. */
  readonly byChange: boolean
}

export function wantedRows(proposals: readonly PriceProposal[], { search, view, byChange }: Wanted): readonly PriceProposal[] {
  const words = search.trim().toLowerCase()
  const found = proposals.filter(
    (proposal) =>
      `${proposal.model} ${proposal.vendor}`.toLowerCase().includes(words) && (view === 'all' || viewOf(proposal) === view),
  )
  return byChange ? found.toSorted((one, other) => sizeOf(other) - sizeOf(one)) : found
}

/** Whether it rises or falls, by the first price that differs; or had no token price. */
export function viewOf({ current, proposed }: PriceProposal): Exclude<View, 'all'> {
  if (!current) return 'unpriced'
  const names: readonly PriceName[] = [
    'input',
    'output',
    'cache_read',
    'cache_write',
    'cache_audio_read',
    'cache_image_read',
    'audio_input',
    'audio_output',
    'image_input',
    'image_output',
    'video_output',
  ]
  const change = names.map((name) => (proposed[name] ?? current[name] ?? 0) - (current[name] ?? 0)).find((by) => !isDust(by))
  return (change ?? 0) < 0 ? 'down' : 'up'
}

/** The difference as a part of the present price: 0.5 for half as much again. Undefined where there is none to compare with. */
export function changeOf(current: number | null | undefined, proposed: number | null): number | undefined {
  if (current === null || current === undefined || proposed === null || current === 0) return undefined
  const change = (proposed - current) / current
  return isDust(change) ? 0 : change
}

function sizeOf({ current, proposed }: PriceProposal): number {
  return Math.abs(changeOf(current?.input, proposed.input) ?? Number.POSITIVE_INFINITY)
}

/** Whether a change is too small to count as a difference. */
function isDust(value: number): boolean {
  return Math.abs(value) < 1e-6
}
