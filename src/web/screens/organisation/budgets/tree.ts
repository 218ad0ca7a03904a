import type { OrganisationBudget } from '../../../../contract/entities/budget.ts'
import type { Team } from '../../../../contract/entities/organisation.ts'

/** A place of the organisation with its budgets, and the places below it. */
export interface Place {
  readonly scope: 'organisation' | 'team' | 'member' | 'token'
  readonly subject: string
  readonly name: string
  readonly budgets: readonly OrganisationBudget[]
  readonly below: readonly Place[]
  /** Whether the caller may add a budget here. */
  readonly mayAdd: boolean
}

interface Asked {
  readonly organisation: { readonly id: number; readonly name: string }
  readonly teams: readonly Team[]
  readonly budgets: readonly OrganisationBudget[]
  /** The caller decides about everything. */
  readonly managesAll: boolean
}

/** The organisation with its teams as they nest, and below it the members and tokens that have a budget. */
export function placesOf({ organisation, teams, budgets, managesAll }: Asked): Place {
  const of = (scope: Place['scope'], subject: string) =>
    budgets.filter((budget) => budget.scope === scope && budget.subject === subject)
  const teamsBelow = (parent: number): Place[] =>
    teams
      .filter(({ parent_id }) => parent_id === parent)
      .map(({ id, name, may_manage }) => ({
        ...{ scope: 'team', subject: String(id), name, budgets: of('team', String(id)) },
        below: teamsBelow(id),
        mayAdd: managesAll || may_manage,
      }))
  const named = (scope: 'member' | 'token'): Place[] =>
    [...new Map(budgets.filter((budget) => budget.scope === scope).map((budget) => [budget.subject, budget]))].map(
      ([subject, { subject_name, may_manage }]) => ({
        ...{ scope, subject, name: subject_name || `#${subject}`, budgets: of(scope, subject), below: [] },
        mayAdd: may_manage,
      }),
    )
  return {
    ...{ scope: 'organisation', subject: String(organisation.id), name: organisation.name },
    budgets: of('organisation', String(organisation.id)),
    below: [...teamsBelow(0), ...named('member'), ...named('token')],
    mayAdd: managesAll,
  }
}

/** The budgets that a place and all below it have. */
export function countBudgets({ budgets, below }: Place): number {
  return budgets.length + below.reduce((sum, place) => sum + countBudgets(place), 0)
}

const daySeconds = 86_400
/** Before this share of a window, what has been spent says little of its end. */
const shareLeast = 0.02

/**
 * What will have been spent when the window ends, if it goes on as it has so far; undefined for windows without an end, and at their
 * beginning.
 */
export function forecastOf(
  { period, renews_at: end, spent }: Pick<OrganisationBudget, 'period' | 'renews_at' | 'spent'>,
  now: number,
): number | undefined {
  const length = period === 'day' ? daySeconds : period === 'week' ? 7 * daySeconds : period === 'month' ? monthBefore(end) : 0
  const passed = now - (end - length)
  if (length === 0 || end <= now || passed < length * shareLeast) return undefined
  return Math.round((spent / passed) * length)
}

/** The seconds of the month that ends then. */
function monthBefore(end: number): number {
  const date = new Date((end - daySeconds) * 1000)
  return new Date(date.getFullYear(), date.getMonth() + 1, 0).getDate() * daySeconds
}
