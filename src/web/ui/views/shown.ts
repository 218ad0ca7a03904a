import { withMovingTimes } from './moving-times.ts'
import type { ViewsInput } from './use-views.ts'

/** What the list shows now, as a view keeps it. */
export function shownNow({ viewed: { search, filters }, hidden }: ViewsInput) {
  return { search: withMovingTimes(search, filters), hidden: hidden && [...hidden] }
}
