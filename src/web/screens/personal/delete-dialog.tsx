import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { forgetUser } from '../../lib/session.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import { texts } from './texts.ts'

/** Deletes the user's account after its name was typed. */
export function DeleteDialog({ username, onClose }: { username: string; onClose: () => void }) {
  const say = useText(texts)
  const navigate = useNavigate()
  const client = useQueryClient()
  const form = useForm({
    initialValues: { typed: '' },
    validate: { typed: (text) => text !== username && say('removeMismatch') },
  })
  const remove = useWrite('DELETE /api/user/self', {
    success: say('removed'),
    onSuccess: () => {
      forgetUser()
      client.clear()
      void navigate({ to: '/login' })
    },
  })

  return (
    <Dialog title={say('removeTitle')} size="md" onClose={onClose}>
      <form onSubmit={form.onSubmit(() => remove.mutate({}))} noValidate>
        <Stack gap="sm">
          <Notice kind="danger">{say('removeWarning')}</Notice>
          <TextInput
            data-autofocus
            label={say('removeType', { name: username })}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            {...form.getInputProps('typed')}
          />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {say('cancel')}
            </Button>
            <Button type="submit" color="red" loading={remove.isPending}>
              {say('removeConfirm')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
