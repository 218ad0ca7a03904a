import { Button, Group, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { ApiError } from '../lib/call.ts'
import { defineTexts, useText } from '../lib/i18n.ts'
import { useWrite } from '../lib/query.ts'
import styles from './dialog.module.css'
import { Dialog } from './dialog.tsx'
import { PasswordField } from './password-field.tsx'

const texts = defineTexts('prove-again', {
  zh: {
    title: '请先验证密码',
    body: '此操作影响账户安全，请再次输入你的登录密码。验证后十分钟内不再询问。',
    password: '当前密码',
    missing: '请输入当前密码',
    submit: '验证',
    cancel: '取消',
  },
  en: {
    title: 'Enter your password first',
    body: 'This affects the safety of your account, so enter your password once more. It is not asked for again for ten minutes.',
    password: 'Current password',
    missing: 'Enter the current password',
    submit: 'Verify',
    cancel: 'Cancel',
  },
})

/** Proves who is behind the session with the password. */
export function ProveAgainDialog({ onAnswer }: { onAnswer: (proved: boolean) => void }) {
  const say = useText(texts)
  const form = useForm({
    initialValues: { password: '' },
    validate: { password: (value) => (value === '' ? say('missing') : null) },
  })
  const verify = useWrite('POST /api/user/verify', {
    onSuccess: () => onAnswer(true),
    onFailure: (cause) => {
      if (!(cause instanceof ApiError) || cause.code !== 'password_wrong') return false
      form.setFieldError('password', cause.message)
      return true
    },
  })

  return (
    <Dialog title={say('title')} size="md" onClose={() => onAnswer(false)}>
      <form onSubmit={form.onSubmit((body) => verify.mutate({ body }))} noValidate>
        <Stack gap="sm">
          <p className={styles.words}>{say('body')}</p>
          <PasswordField
            data-autofocus
            label={say('password')}
            autoComplete="current-password"
            {...form.getInputProps('password')}
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={() => onAnswer(false)}>
              {say('cancel')}
            </Button>
            <Button type="submit" loading={verify.isPending}>
              {say('submit')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
