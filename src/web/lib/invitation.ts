import { tabText } from './stored.ts'

/** The secret of the invitation that this tab has opened, until it is answered: a login or registration returns to it. */
export const openInvitation = tabText('invitation')

/** The page after a login or registration. */
export function useAfterEntry() {
  const token = openInvitation.use()
  return token === '' ? ({ to: '/token' } as const) : ({ to: '/invitation', search: { token } } as const)
}
