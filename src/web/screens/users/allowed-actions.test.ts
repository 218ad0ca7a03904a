import { expect, it } from 'vitest'
import { allowedActions, isEnableForbidden, mayChange } from './allowed-actions.ts'

const user = { id: 5, role: 1, status: 1, DeletedAt: null }
const admin = { id: 2, role: 10 }
const root = { id: 1, role: 100 }

it.each([
  ['an admin, of an active user', admin, user, ['disable', 'sign_out', 'reset_factors', 'delete']],
  ['an admin, of a banned user', admin, { ...user, status: 2 }, ['enable', 'sign_out', 'reset_factors', 'delete']],
  ['an admin, of a locked user', admin, { ...user, status: 3 }, ['sign_out', 'reset_factors', 'delete']],
  ['an admin, of another admin', admin, { ...user, role: 10 }, []],
  ['an admin, of the own row', admin, { ...user, ...admin }, []],
  ['the super admin, of an active user', root, user, ['promote', 'disable', 'sign_out', 'reset_factors', 'delete']],
  [
    'the super admin, of a locked user',
    root,
    { ...user, status: 3 },
    ['promote', 'unlock', 'sign_out', 'reset_factors', 'delete'],
  ],
  ['the super admin, of an admin', root, { ...user, role: 10 }, ['demote', 'disable', 'sign_out', 'reset_factors', 'delete']],
  ['the super admin, of the own row', root, { ...user, ...root }, []],
  ['anybody, of a deleted user', root, { ...user, DeletedAt: '2026-01-01T00:00:00.000Z' }, []],
])('offers the actions that the server permits: for %s', (_user, actor, subject, actions) => {
  expect(allowedActions(actor, subject)).toEqual(actions)
  expect(mayChange(actor, subject)).toBe(actions.length > 0)
})

it('shows that locked users, and only they, cannot be enabled', () => {
  expect([1, 2, 3].map((status) => isEnableForbidden(admin, { ...user, status }))).toEqual([false, false, true])
  expect(isEnableForbidden(admin, { ...user, status: 3, role: 10 })).toBe(false)
})
