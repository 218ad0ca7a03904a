import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'

/** Something to type that others must not read; the button that shows it can be reached by keyboard. */
export function PasswordField(props: PasswordInputProps) {
  const say = useText(texts)
  return <PasswordInput {...props} visibilityToggleButtonProps={{ 'aria-label': say('showPassword'), tabIndex: 0 }} />
}
