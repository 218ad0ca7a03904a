import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { ApiError } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { useHumanCheck } from '../../ui/account/human-check.tsx'
import { MailCodeField } from '../../ui/account/mail-code-field.tsx'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { texts } from './texts.ts'

/** Binds an address with the code that is mailed there. */
export function EmailDialog({ onClose }: { onClose: () => void }) {
  const say = useText(texts)
  const human = useHumanCheck('address')
  const form = useForm({
    initialValues: { email: '', code: '' },
    validate: {
      email: (text) => text.trim() === '' && say('emailRequired'),
      code: (text) => text.trim() === '' && say('codeRequired'),
    },
  })
  const bind = useWrite('POST /api/oauth/email/bind', {
    invalidates: ['GET /api/user/self'],
    success: say('emailBound'),
    onSuccess: onClose,
    onFailure: (cause) => {
      if (!(cause instanceof ApiError) || cause.code !== 'code_wrong') return false
      form.setFieldError('code', cause.message)
      return true
    },
  })

  return (
    <Dialog title={say('emailTitle')} size="md" onClose={onClose}>
      <form
        onSubmit={form.onSubmit(({ email, code }) => bind.mutate({ body: { email: email.trim(), code: code.trim() } }))}
        noValidate
      >
        <Stack gap="sm">
          <TextInput
            data-autofocus
            label={say('emailAddress')}
            type="email"
            autoComplete="email"
            {...form.getInputProps('email')}
          />
          <MailCodeField email={form.values.email} purpose="bind" human={human} {...form.getInputProps('code')} />
          {human.widget}
          <Group justify="flex-end">
            <Button type="submit" loading={bind.isPending}>
              {say('emailSubmit')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
