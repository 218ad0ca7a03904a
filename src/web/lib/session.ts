import type { SignedInUser } from '../../contract/entities/user.ts'
import { mayAccess } from '../../contract/roles.ts'
import type { Access } from '../../contract/route.ts'
import { storedJson } from './stored.ts'

/** The signed-in user, as the login returned it. The session itself is a cookie that no script can read. */

const user = storedJson<SignedInUser | null>('user', null, isUser)

function isUser(value: unknown): value is SignedInUser {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'number' && 'role' in value
}

export const currentUser = user.read
export const useSession = user.use
export const rememberUser = (signedIn: SignedInUser): void => user.write(signedIn)
export const forgetUser = (): void => user.write(undefined)

export function useMay(access: Access): boolean {
  return mayAccess(useSession()?.role ?? 0, access)
}

type Listener = () => void
let whenExpired: Listener = () => {}

/** Called when the server reports that the session has ended; the router opens the login. */
export function onSessionExpired(listener: Listener): void {
  whenExpired = listener
}

export function expireSession(): void {
  forgetUser()
  whenExpired()
}
