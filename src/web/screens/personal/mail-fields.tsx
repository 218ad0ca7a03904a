import { TextInput } from '@mantine/core'
import { useText } from '../../lib/i18n.ts'
import { useHumanCheck } from '../../ui/account/human-check.tsx'
import { MailCodeField } from '../../ui/account/mail-code-field.tsx'
import type { NoticeForm } from './own-setting.ts'
import { texts } from './texts.ts'

interface MailFieldsProps {
  readonly form: NoticeForm
  readonly ownEmail: string
  /** The stored address is verified already. */
  readonly provedEmail: string
}

/** The address of notifications. An address other than the account's is verified with a code. */
export function MailFields({ form, ownEmail, provedEmail }: MailFieldsProps) {
  const say = useText(texts)
  const human = useHumanCheck('address')
  const typed = form.values.notification_email.trim()
  const isProved = ['', ownEmail.toLowerCase(), provedEmail.toLowerCase()].includes(typed.toLowerCase())
  return (
    <>
      <TextInput
        label={say('notifyEmail')}
        description={ownEmail === '' ? say('notifyEmailNone') : say('notifyEmailHint', { email: ownEmail })}
        type="email"
        autoComplete="email"
        {...form.getInputProps('notification_email')}
      />
      {!isProved && (
        <>
          <MailCodeField email={typed} purpose="notify" human={human} {...form.getInputProps('notification_code')} />
          {human.widget}
        </>
      )}
    </>
  )
}
