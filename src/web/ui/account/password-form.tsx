import { Button, Group, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { passwordLength } from '../../../contract/entities/user.ts'
import { defineTexts, useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { PasswordField } from '../form/password-field.tsx'

const texts = defineTexts({
  current: ['当前密码', 'Current password'],
  fresh: ['新密码', 'New password'],
  freshHint: ['8 到 20 个字符，不能是常见密码', '8 to 20 characters. Common passwords are refused.'],
  repeat: ['确认新密码', 'Confirm new password'],
  change: ['修改密码', 'Change password'],
  set: ['设置密码', 'Set password'],
  changed: ['密码修改成功！', 'Password changed'],
  currentMissing: ['请输入当前密码', 'Enter the current password'],
  tooShort: ['密码长度不得小于 8 位！', 'Password length must not be less than 8'],
  tooLong: ['密码长度不得超过 20 位！', 'Password length must not be more than 20'],
  mismatch: ['两次输入的密码不一致！', 'The two passwords entered do not match'],
})

/** Changes the user's own password; users of an external identity have none yet, and set a first one. */
export function PasswordForm({ isFirst = false, onDone }: { isFirst?: boolean; onDone: () => void }) {
  const say = useText(texts)
  const form = useForm({
    initialValues: { current: '', fresh: '', repeat: '' },
    validate: {
      current: (value) => (value === '' && !isFirst ? say('currentMissing') : null),
      fresh: (value) =>
        value.length < passwordLength.min ? say('tooShort') : value.length > passwordLength.max ? say('tooLong') : null,
      repeat: (value, { fresh }) => (value === fresh ? null : say('mismatch')),
    },
  })
  const change = useWrite('PUT /api/user/self', {
    success: say('changed'),
    onSuccess: () => {
      form.reset()
      onDone()
    },
  })

  return (
    <form
      onSubmit={form.onSubmit(({ current, fresh }) => change.mutate({ body: { password: fresh, current_password: current } }))}
      noValidate
    >
      <Stack gap="sm">
        {!isFirst && (
          <PasswordField
            data-autofocus
            label={say('current')}
            autoComplete="current-password"
            {...form.getInputProps('current')}
          />
        )}
        <PasswordField
          label={say('fresh')}
          description={say('freshHint')}
          autoComplete="new-password"
          {...form.getInputProps('fresh')}
        />
        <PasswordField label={say('repeat')} autoComplete="new-password" {...form.getInputProps('repeat')} />
        <Group justify="flex-end">
          <Button type="submit" loading={change.isPending}>
            {say(isFirst ? 'set' : 'change')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
