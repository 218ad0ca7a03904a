import { storedText } from './stored.ts'

/** The code of who invited this visitor, kept from the link until an account is made. */
export const inviteCode = storedText('aff')
