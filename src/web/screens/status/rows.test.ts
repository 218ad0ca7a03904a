import { expect, it } from 'vitest'
import type { ServiceState } from '../../../contract/entities/status-page.ts'
import { statusRows } from './rows.ts'

const model = (name: string, state: ServiceState = 'operational', share = 1) => ({
  name,
  state,
  share,
  days: [share],
  vendors: [],
})
const group = (name: string, ...models: ReturnType<typeof model>[]) => ({ name, description: name, models })
const shown = (...groups: ReturnType<typeof group>[]) =>
  statusRows(groups).map(({ model, groups }) => [model.name, model.state, ...groups].join(' '))

it('a model that all groups see alike is one row, and trouble comes first', () => {
  expect(
    shown(
      group('default', model('b'), model('a'), model('c', 'outage')),
      group('vip', model('a'), model('b'), model('c', 'outage')),
    ),
  ).toEqual(['c outage', 'a operational', 'b operational'])
})

it('groups are named where they differ', () => {
  expect(shown(group('default', model('a', 'degraded', 0.9)), group('vip', model('a'), model('b')))).toEqual([
    'a degraded default',
    'a operational vip',
    'b operational vip',
  ])
})
