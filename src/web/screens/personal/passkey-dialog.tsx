import { Button, Group, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Passkey } from '../../../contract/entities/passkey.ts'
import { call } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import { createPasskey } from '../../lib/passkey.ts'
import { invalidate, useWrite } from '../../lib/query.ts'
import { toast } from '../../lib/toast.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import shared from '../../ui/shared.module.css'
import { securityTexts } from './security-texts.ts'

/** Asks for a name, and then has the device make the passkey. */
export function AddPasskeyDialog({ suggestion, onClose }: { suggestion: string; onClose: () => void }) {
  const say = useText(securityTexts)
  const client = useQueryClient()
  const add = useMutation({
    async mutationFn(name: string) {
      const answer = await createPasskey(await call('POST /api/user/passkey/options'))
      if (!answer) return
      await call('POST /api/user/passkey', { body: { name, answer } })
      toast.success(say('added'))
      onClose()
      await invalidate(client, ['GET /api/user/security'])
    },
    onError: toast.failure,
  })
  return (
    <NameDialog
      title={say('addTitle')}
      name={suggestion}
      submit={say('add')}
      busy={add.isPending}
      onName={(name) => add.mutate(name)}
      onClose={onClose}
    />
  )
}

export function RenamePasskeyDialog({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const say = useText(securityTexts)
  const rename = useWrite('PUT /api/user/passkey/:id', {
    invalidates: ['GET /api/user/security'],
    success: say('renamed'),
    onSuccess: onClose,
  })
  return (
    <NameDialog
      title={say('renameTitle')}
      name={passkey.name}
      submit={say('save')}
      busy={rename.isPending}
      onName={(name) => rename.mutate({ params: { id: passkey.id }, body: { name } })}
      onClose={onClose}
    />
  )
}

interface NameDialogProps {
  readonly title: string
  readonly name: string
  readonly submit: string
  readonly busy: boolean
  readonly onName: (name: string) => void
  readonly onClose: () => void
}

function NameDialog({ title, name, submit, busy, onName, onClose }: NameDialogProps) {
  const say = useText(securityTexts)
  const form = useForm({
    initialValues: { name },
    validate: { name: (text) => (text.trim() === '' ? say('nameMissing') : null) },
  })
  return (
    <Dialog title={title} size="md" onClose={onClose}>
      <form onSubmit={form.onSubmit((values) => onName(values.name.trim()))} noValidate>
        <Stack gap="sm">
          <p className={shared.hint}>{say('addHint')}</p>
          <TextInput data-autofocus label={say('name')} maxLength={50} {...form.getInputProps('name')} />
          <Group justify="flex-end">
            <Button type="submit" loading={busy}>
              {submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  )
}
