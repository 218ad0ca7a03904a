import { storedText } from './stored.ts'

/** The inviter's code of this visitor, kept from the link until the sign-up. */
export const inviteCode = storedText('aff')
