import { Button, Group, Select, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { User } from '../../../contract/entities/user.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { useUserBatch } from './bulk-actions.tsx'
import { texts } from './texts.ts'

interface GroupDialogProps {
  readonly users: readonly User[]
  readonly done: () => void
  readonly onClose: () => void
}

/** Puts several users into one group. */
export function GroupDialog({ users, done, onClose }: GroupDialogProps) {
  const say = useText(texts)
  const groups = useQuery(read('GET /api/group/'))
  const [group, setGroup] = useState<string | null>(null)
  const { change, isPending } = useUserBatch()

  function save(): void {
    if (group === null) return
    change(users, { action: 'group', group }, () => {
      done()
      onClose()
    })
  }
  return (
    <Dialog title={say('bulkGroupTitle', { count: users.length })} size="md" onClose={onClose}>
      <Stack gap="md">
        <Select
          data-autofocus
          label={say('group')}
          placeholder={say('group')}
          data={groups.data ?? []}
          value={group}
          onChange={setGroup}
        />
        <Group justify="flex-end">
          <Button disabled={group === null} loading={isPending} onClick={save}>
            {say('bulkGroupSave')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}
