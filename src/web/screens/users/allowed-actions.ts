import { type ManageAction, type User, userStatus } from '../../../contract/entities/user.ts'
import { isAdmin, isRoot, mayManage } from '../../../contract/roles.ts'

type Actor = Pick<User, 'id' | 'role'>
type Subject = Pick<User, 'id' | 'role' | 'status' | 'DeletedAt'>

/**
 * Whether this user may be changed here: not the admin's own account, which has a separate page, nor users of equal rank, nor deleted
 * users.
 */
export function mayChange(actor: Actor, user: Subject): boolean {
  return user.DeletedAt === null && user.id !== actor.id && mayManage(actor.role, user.role)
}

/** The actions that the server permits this actor on this user; no others are offered. */
export function allowedActions(actor: Actor, user: Subject): readonly ManageAction[] {
  if (!mayChange(actor, user)) return []
  const permissions: Readonly<Record<ManageAction, boolean>> = {
    promote: isRoot(actor.role) && !isAdmin(user.role),
    demote: isAdmin(user.role) && !isRoot(user.role),
    enable: user.status === userStatus.banned,
    unlock: user.status === userStatus.locked && isRoot(actor.role),
    disable: user.status === userStatus.active && !isRoot(user.role),
    sign_out: true,
    reset_factors: true,
    delete: !isRoot(user.role),
  }
  // The keys of the record are the actions.
  return (Object.keys(permissions) as ManageAction[]).filter((action) => permissions[action])
}

/** Whether enabling is disabled: the list cannot unlock users that the system locked. */
export function isEnableForbidden(actor: Actor, user: Subject): boolean {
  return mayChange(actor, user) && user.status === userStatus.locked
}
