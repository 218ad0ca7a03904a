import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconFingerprint } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError, call } from '../../lib/call.ts'
import { defineTexts, useText } from '../../lib/i18n.ts'
import { requestPasskey, supportsPasskeys } from '../../lib/passkey.ts'
import { read, useWrite } from '../../lib/query.ts'
import { toast } from '../../lib/toast.ts'
import styles from '../dialog/dialog.module.css'
import { Dialog } from '../dialog/dialog.tsx'
import { PasswordField } from '../form/password-field.tsx'

const texts = defineTexts({
  title: ['请先验证密码', 'Confirm your password'],
  body: [
    '此操作影响账户安全，请再次输入你的登录密码。验证后十分钟内不再询问。',
    'This action affects the security of your account. Enter your password again; you will not be asked again for ten minutes.',
  ],
  password: ['当前密码', 'Current password'],
  missing: ['请输入当前密码', 'Enter the current password'],
  codeTitle: ['请先验证身份', 'Verify your identity'],
  codeBody: [
    '此操作影响账户安全，请输入身份验证器应用中的验证码，或一个备用验证码。验证后十分钟内不再询问。',
    'This action affects the security of your account. Enter a code from your authenticator app or a backup code; you will not be asked again for ten minutes.',
  ],
  code: ['两步验证码', 'Two-factor code'],
  codeMissing: ['请输入验证码', 'Enter the code'],
  noneBody: [
    '此操作影响账户安全，而你的账户尚无密码。请退出后重新登录，十分钟内即可进行此操作。',
    'This action affects the security of your account, which has no password yet. Log out and log in again; you can then do this within ten minutes.',
  ],
  passkey: ['使用通行密钥', 'Use a passkey'],
  submit: ['验证', 'Verify'],
  cancel: ['取消', 'Cancel'],
})

/** Authenticates the user of the session again: by password, by a code where there is a second factor, or by a passkey. */
export function ReauthenticationDialog({ onAnswer }: { onAnswer: (proved: boolean) => void }) {
  const say = useText(texts)
  const { data } = useQuery(read('GET /api/user/security'))
  // Until the login methods of the account are loaded, the password is asked for.
  const withCode = data?.two_factor === true
  const withPassword = !withCode && data?.password !== false
  const withPasskey = data !== undefined && data.passkeys.length > 0 && data.passkeys_offered && supportsPasskeys()
  const cancel = (
    <Button variant="default" onClick={() => onAnswer(false)}>
      {say('cancel')}
    </Button>
  )

  return (
    <Dialog title={say(withPassword ? 'title' : 'codeTitle')} size="md" onClose={() => onAnswer(false)}>
      <Stack gap="sm">
        <p className={styles.words}>{say(withCode ? 'codeBody' : withPassword ? 'body' : 'noneBody')}</p>
        {withPasskey && <PasskeyButton onProved={() => onAnswer(true)} />}
        {withCode || withPassword ? (
          <ProofForm key={String(withCode)} withCode={withCode} onProved={() => onAnswer(true)} cancel={cancel} />
        ) : (
          <Group justify="flex-end">{cancel}</Group>
        )}
      </Stack>
    </Dialog>
  )
}

function PasskeyButton({ onProved }: { onProved: () => void }) {
  const say = useText(texts)
  const prove = useMutation({
    async mutationFn() {
      const answer = await requestPasskey(await call('POST /api/user/verify/passkey/options'))
      if (!answer) return
      await call('POST /api/user/verify/passkey', { body: { answer } })
      onProved()
    },
    onError: toast.failure,
  })
  return (
    <Button
      variant="default"
      leftSection={<IconFingerprint size={18} stroke={1.7} aria-hidden="true" />}
      loading={prove.isPending}
      onClick={() => prove.mutate()}
    >
      {say('passkey')}
    </Button>
  )
}

interface ProofFormProps {
  readonly withCode: boolean
  readonly onProved: () => void
  readonly cancel: ReactNode
}

function ProofForm({ withCode, onProved, cancel }: ProofFormProps) {
  const say = useText(texts)
  const form = useForm({
    initialValues: { credential: '' },
    validate: { credential: (value) => (value.trim() === '' ? say(withCode ? 'codeMissing' : 'missing') : null) },
  })
  const verify = useWrite('POST /api/user/verify', {
    onSuccess: onProved,
    onFailure: (cause) => {
      if (!(cause instanceof ApiError) || !['password_wrong', 'second_factor_wrong'].includes(cause.code)) return false
      form.setFieldError('credential', cause.message)
      return true
    },
  })

  return (
    <form
      onSubmit={form.onSubmit(({ credential }) =>
        verify.mutate({ body: withCode ? { code: credential.trim() } : { password: credential } }),
      )}
      noValidate
    >
      <Stack gap="sm">
        {withCode ? (
          <TextInput
            data-autofocus
            label={say('code')}
            autoComplete="one-time-code"
            autoCapitalize="none"
            maxLength={20}
            {...form.getInputProps('credential')}
          />
        ) : (
          <PasswordField
            data-autofocus
            label={say('password')}
            autoComplete="current-password"
            {...form.getInputProps('credential')}
          />
        )}
        <Group justify="flex-end" gap="xs">
          {cancel}
          <Button type="submit" loading={verify.isPending}>
            {say('submit')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
