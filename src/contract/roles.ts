import type { Access } from './route.ts'
import type { Text } from './text.ts'

/** The only place that knows role numbers. */
export const role = { ordinary: 1, admin: 10, root: 100 } as const
type Role = (typeof role)[keyof typeof role]

export const roleLabels: Readonly<Record<Role, { label: Text; color: string }>> = {
  1: { label: { zh: '普通用户', en: 'User' }, color: 'gray' },
  10: { label: { zh: '管理员', en: 'Admin' }, color: 'yellow' },
  100: { label: { zh: '超级管理员', en: 'Super admin' }, color: 'orange' },
}

const needed: Readonly<Record<Access, number>> = { public: 0, user: role.ordinary, admin: role.admin, root: role.root }

export function mayAccess(holderRole: number, access: Access): boolean {
  return holderRole >= needed[access]
}

export function isAdmin(holderRole: number): boolean {
  return holderRole >= role.admin
}

export function isRoot(holderRole: number): boolean {
  return holderRole >= role.root
}

/** Whether someone may view or change another user: only those of a lower role, and root everyone. */
export function mayManage(actorRole: number, targetRole: number): boolean {
  return isRoot(actorRole) || actorRole > targetRole
}
