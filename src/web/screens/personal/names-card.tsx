import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { displayNameLengthMax, usernameLengthMax } from '../../../contract/entities/user.ts'
import { ApiError, type CallReply } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { rememberUser, useSession } from '../../lib/session.ts'
import { toast } from '../../lib/toast.ts'
import { Panel } from '../../ui/page/panel.tsx'
import { texts } from './texts.ts'

/** The username for the login, and the display name. */
export function NamesCard({ self }: { self: CallReply<'GET /api/user/self'> }) {
  const say = useText(texts)
  const user = useSession()
  const form = useForm({
    initialValues: { username: self.username, display_name: self.display_name },
    validate: {
      username: (text) => (text.trim() === '' || [...text.trim()].length > usernameLengthMax) && say('usernameLength'),
      display_name: (text) => [...text.trim()].length > displayNameLengthMax && say('displayNameLong'),
    },
  })
  const save = useWrite('PUT /api/user/self', {
    invalidates: ['GET /api/user/self'],
    success: say('namesSaved'),
    onSuccess: (_data, { body }) => {
      const { username = self.username, display_name = self.display_name } = body
      if (user) rememberUser({ ...user, username, display_name: display_name || self.display_name })
      form.resetDirty()
    },
    onFailure: (cause) => {
      if (!(cause instanceof ApiError) || !cause.code.startsWith('username_')) return false
      form.setFieldError('username', cause.message)
      return true
    },
  })

  function submit({ username, display_name }: typeof form.values): void {
    if (!form.isDirty()) toast.warn(say('nothingChanged'))
    else save.mutate({ body: { username: username.trim(), display_name: display_name.trim() } })
  }

  return (
    <Panel title={say('names')} description={say('namesHint')}>
      <form onSubmit={form.onSubmit(submit)} noValidate>
        <Stack gap="sm">
          <TextInput
            label={say('username')}
            description={say('usernameHint')}
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            {...form.getInputProps('username')}
          />
          <TextInput label={say('displayName')} autoComplete="nickname" {...form.getInputProps('display_name')} />
          <Group justify="flex-end">
            <Button type="submit" loading={save.isPending}>
              {say('save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Panel>
  )
}
