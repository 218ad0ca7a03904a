import { displayNameLengthMax, passwordLength, usernameLengthMax } from '../../../contract/entities/user.ts'
import { blankFaults, type Fields } from '../../../contract/fields.ts'
import { localOf, textOf } from '../../lib/i18n.ts'
import { texts } from './texts.ts'

interface Names {
  readonly username: string
  readonly display_name: string
  /** '' for no change, or none yet. */
  readonly password: string
}

/** The faults in the names and the password of a user, by field; lengths are in characters. */
export function faultsOf(fields: Fields, values: Names): Record<string, string> {
  const length = (text: string) => [...text].length
  const password = length(values.password)
  const isPasswordWrong = password > 0 && (password < passwordLength.min || password > passwordLength.max)
  return {
    ...(length(values.username.trim()) > usernameLengthMax ? { username: textOf(texts, 'usernameLong') } : {}),
    ...(length(values.display_name.trim()) > displayNameLengthMax ? { display_name: textOf(texts, 'displayNameLong') } : {}),
    ...(isPasswordWrong ? { password: textOf(texts, 'passwordLength') } : {}),
    ...blankFaults(fields, values, localOf),
  }
}
