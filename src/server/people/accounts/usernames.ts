import { usernameLengthMax } from '../../../contract/entities/user.ts'
import { fail } from '../../base/lib/failure.ts'

/** The key by which names are compared and looked up: case and width are ignored. */
export function usernameKey(username: string): string {
  return username.trim().normalize('NFKC').toLowerCase()
}

/** `@` would make a name look like an e-mail address; the others are invisible, or change the direction of the text around them. */
const forbidden = /[@\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/u

/** Whether a name shows what it is: without `@` and invisible characters. */
export function isPlainName(name: string): boolean {
  return !forbidden.test(name) && !forbidden.test(usernameKey(name))
}

/** The name without spaces around it. Throws `username_length` or `username_characters`. */
export function readUsername(given: string): string {
  const username = given.trim().normalize('NFC')
  const length = [...username].length
  if (length < 1 || length > usernameLengthMax) fail('username_length')
  if (!isPlainName(username)) fail('username_characters')
  return username
}
