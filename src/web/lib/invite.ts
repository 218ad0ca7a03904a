import { storedText } from './stored.ts'

/** The invitation code of this visitor, stored from the link until the sign-up. */
export const inviteCode = storedText('aff')
