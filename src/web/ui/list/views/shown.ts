import { withMovingTimes } from './moving-times.ts'
import type { ViewsInput } from './use-views.ts'

/** The current state of the list, as a view stores it. */
export function shownNow({ viewed: { search, filters }, hidden }: ViewsInput) {
  return { search: withMovingTimes(search, filters), hidden: hidden && [...hidden] }
}
