import { mayAccess } from '../../contract/roles.ts'
import { usePayer } from './payer.ts'
import { isForPayer, type Screen } from './screen.ts'
import { useRole, useSession } from './session.ts'
import { useStatus } from './status.ts'

/** Whether navigation and palette lead to a screen: by the role of the user, by who pays, and by what the site offers. */
export function useOffered(): (screen: Screen) => boolean {
  const role = useRole()
  const user = useSession()
  const payer = usePayer()
  const status = useStatus()
  return (screen) =>
    mayAccess(role, screen.access) &&
    isForPayer(screen, payer) &&
    (payer !== null || screen.nav?.isOfOrganisation !== true) &&
    (screen.nav?.flag?.(status, user) ?? true)
}
