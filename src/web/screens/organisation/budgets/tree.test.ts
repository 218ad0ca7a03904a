import { expect, it } from 'vitest'
import type { OrganisationBudget } from '../../../../contract/entities/budget.ts'
import type { Team } from '../../../../contract/entities/organisation.ts'
import { countBudgets, forecastOf, placesOf } from './tree.ts'

const budget = (scope: OrganisationBudget['scope'], subject: string, more: Partial<OrganisationBudget> = {}) =>
  ({ scope, subject, subject_name: `${scope} ${subject}`, may_manage: false, ...more }) as OrganisationBudget
const team = (id: number, parent_id: number, may_manage = false): Team => ({
  ...{ id, parent_id, name: `team ${id}`, members: 0, tokens: 0, may_manage },
})
const organisation = { id: 7, name: 'Acme' }

it('has every team where it belongs, and members and tokens that have a budget', () => {
  const budgets = [
    budget('organisation', '7'),
    budget('team', '2'),
    budget('team', '2'),
    budget('member', '5', { may_manage: true }),
    budget('token', '9'),
    budget('organisation', '8'),
  ]
  const root = placesOf({ organisation, teams: [team(1, 0), team(2, 1, true), team(3, 0)], budgets, managesAll: false })
  const shown = (place: typeof root): unknown => [place.name, place.budgets.length, place.mayAdd, ...place.below.map(shown)]
  expect(shown(root)).toEqual([
    ...['Acme', 1, false],
    ['team 1', 0, false, ['team 2', 2, true]],
    ['team 3', 0, false],
    ['member 5', 1, true],
    ['token 9', 1, false],
  ])
  expect(countBudgets(root)).toBe(5)
})

it('forecasts the end of a window from what it has spent, once it has begun, and only where it ends', () => {
  const end = Date.UTC(2026, 1, 2) / 1000
  const day = (passed: number) => forecastOf({ period: 'day', renews_at: end, spent: 100 }, end - 86_400 + passed)
  expect(day(43_200)).toBe(200)
  expect(day(60)).toBeUndefined()
  expect(day(86_400)).toBeUndefined()
  expect(forecastOf({ period: 'week', renews_at: end, spent: 70 }, end - 86_400)).toBe(82)
  expect(forecastOf({ period: 'total', renews_at: 0, spent: 70 }, end)).toBeUndefined()
  expect(forecastOf({ period: 'sliding', renews_at: end, spent: 70 }, end - 10)).toBeUndefined()
  const march = Date.UTC(2026, 2, 1, 12) / 1000
  expect(forecastOf({ period: 'month', renews_at: march, spent: 14 }, march - 14 * 86_400)).toBe(28)
})
