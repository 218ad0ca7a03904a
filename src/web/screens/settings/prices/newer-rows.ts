import type { PriceChange } from '../../../../contract/routes/pricing.ts'

/** The filters of the changes. */
export const changeViews = ['all', 'suspect', 'served', 'added', 'removed'] as const
export type ChangeView = (typeof changeViews)[number]

const shows: Readonly<Record<ChangeView, (change: PriceChange) => boolean>> = {
  all: () => true,
  suspect: ({ warning }) => warning !== null,
  served: ({ served }) => served,
  added: ({ before }) => before === null,
  removed: ({ after }) => after === null,
}

/** In the order of the data. */
export function viewedChanges(
  changes: readonly PriceChange[],
  { search, view }: { readonly search: string; readonly view: ChangeView },
): readonly PriceChange[] {
  const words = search.trim().toLowerCase()
  return changes.filter((change) => shows[view](change) && `${change.model} ${change.vendor}`.toLowerCase().includes(words))
}

/** One for each change: a price that begins later is a separate change. */
export function changeKey({ vendor_id, model, from }: PriceChange): string {
  return `${vendor_id} ${model} ${from}`
}

/** The models of these changes, each once: prices of a later date are applied together with the current ones. */
export function modelsOf(changes: readonly PriceChange[]): { vendor_id: string; model: string }[] {
  const models = new Map(changes.map(({ vendor_id, model }) => [`${vendor_id} ${model}`, { vendor_id, model }]))
  return [...models.values()]
}
