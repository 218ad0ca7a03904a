import type { ShownOrganisations, SignedInUser } from '../../contract/entities/user.ts'
import { mayAccess, role } from '../../contract/roles.ts'
import type { Access } from '../../contract/route.ts'
import { forgetPayer, usePayer } from './payer.ts'
import { storedJson } from './stored.ts'

/** The signed-in user, as the login returned it. The session itself is a cookie that no script can read. */

const user = storedJson<SignedInUser | null>('user', null, isUser)

function isUser(value: unknown): value is SignedInUser {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'number' && 'role' in value
}

export const currentUser = user.read
export const useSession = user.use
export const rememberUser = (signedIn: SignedInUser): void => user.write(signedIn)

export function forgetUser(): void {
  user.write(undefined)
  forgetPayer()
}

/** Notes what the console shows of organisations, where the server has said so, or the user has just joined one. */
export function noteOrganisations(organisations: ShownOrganisations): void {
  const signedIn = currentUser()
  if (signedIn && signedIn.organisations !== organisations) rememberUser({ ...signedIn, organisations })
}

/** The role in which the console is used: while an organisation pays, that of any user. */
export function useRole(): number {
  const own = useSession()?.role ?? 0
  return usePayer() ? Math.min(own, role.ordinary) : own
}

export function useMay(access: Access): boolean {
  return mayAccess(useRole(), access)
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
