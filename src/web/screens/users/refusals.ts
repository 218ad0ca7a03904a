import type { ErrorCode } from '../../../contract/errors.ts'
import { ApiError } from '../../lib/call.ts'

/** The form field of each error code of the server. */
const fieldOfRefusal: Readonly<Record<string, string>> = {
  username_taken: 'username',
  username_length: 'username',
  username_characters: 'username',
  display_name_length: 'display_name',
  password_length: 'password',
  password_weak: 'password',
  own_password: 'password',
  group_unknown: 'group',
} satisfies Partial<Record<ErrorCode, string>>

/** Whether the refusal was shown at its field. */
export function showAtField(cause: unknown, show: (field: string, message: string) => void): boolean {
  const field = cause instanceof ApiError ? fieldOfRefusal[cause.code] : undefined
  if (field === undefined || !(cause instanceof ApiError)) return false
  show(field, cause.message)
  return true
}
