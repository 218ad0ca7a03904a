import { Button, TextInput, type TextInputProps } from '@mantine/core'
import { resendSeconds } from '../../../contract/entities/user.ts'
import { useCountdown } from '../../lib/countdown.ts'
import { defineTexts, useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { toast } from '../../lib/toast.ts'
import type { HumanCheck } from './human-check.tsx'
import styles from './mail-code-field.module.css'

const texts = defineTexts({
  label: ['邮箱验证码', 'Verification code'],
  placeholder: ['6 位，3 分钟有效', '6 digits, valid for 3 min'],
  get: ['获取验证码', 'Get code'],
  again: ['重新发送 ({seconds})', 'Resend ({seconds})'],
  sent: ['验证码发送成功，请检查你的邮箱！', 'Code sent. Check your inbox.'],
  emailMissing: ['请输入邮箱地址', 'Enter an email address'],
})

interface MailCodeFieldProps extends TextInputProps {
  /** The address that the code is mailed to. */
  readonly email: string
  readonly purpose: 'register' | 'bind' | 'notify'
  readonly human: HumanCheck
}

/** The field of a mailed code, with the button that has it mailed; the button is then disabled for a while. */
export function MailCodeField({ email, purpose, human, ...input }: MailCodeFieldProps) {
  const say = useText(texts)
  const pause = useCountdown()
  const mail = useWrite('POST /api/verification', { success: say('sent'), onSuccess: () => pause.start(resendSeconds) })

  function send(): void {
    if (email.trim() === '') {
      toast.error(say('emailMissing'))
      return
    }
    const turnstile = human.take()
    if (turnstile !== undefined) mail.mutate({ body: { email: email.trim(), purpose, turnstile } })
  }

  const button = (
    <Button
      variant="default"
      size={input.size === 'md' ? 'md' : 'sm'}
      flex="none"
      disabled={pause.left > 0}
      loading={mail.isPending}
      onClick={send}
    >
      {pause.left > 0 ? say('again', { seconds: pause.left }) : say('get')}
    </Button>
  )

  return (
    <TextInput
      label={say('label')}
      placeholder={say('placeholder')}
      inputMode="numeric"
      autoComplete="one-time-code"
      maxLength={100}
      inputContainer={(children) => (
        <div className={styles.field}>
          {children}
          {button}
        </div>
      )}
      {...input}
    />
  )
}
