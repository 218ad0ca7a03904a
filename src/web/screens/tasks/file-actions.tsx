import { IconDownload, IconTrash } from '@tabler/icons-react'
import type { StoredFile } from '../../../contract/entities/stored-file.ts'
import { downloadFromRelay } from '../../lib/call-relay.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { useSession } from '../../lib/session.ts'
import { actionIcon, type RowAction } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { texts } from './texts.ts'

export const fileLines = ['GET /api/file/', 'GET /api/file/self', 'GET /api/file/usage', 'GET /api/file/self/usage'] as const

/** What can be done with a file: its owner may download it, and an admin delete it too. */
export function FileActions({ row }: { row: StoredFile }) {
  const say = useText(texts)
  const isOwn = useSession()?.id === row.user_id
  const { file_id: id } = row
  const remove = useWrite(isOwn ? 'DELETE /api/file/self/:file_id' : 'DELETE /api/file/:file_id', {
    invalidates: fileLines,
    success: say('fileDeleted'),
  })
  const actions: RowAction[] = [
    ...(isOwn
      ? [
          {
            label: say('download'),
            icon: <IconDownload {...actionIcon} />,
            primary: true,
            disabled: row.state !== 'kept',
            onClick: () => downloadFromRelay(`/pg/files/${id}/content`, row.filename || id),
          },
        ]
      : []),
    {
      label: say('deleteFile'),
      icon: <IconTrash {...actionIcon} />,
      danger: true,
      disabled: row.state !== 'kept' && row.state !== 'lost',
      ask: { title: say('deleteFile'), object: row.filename || id, body: say('deleteFileBody') },
      onClick: () => remove.mutate({ params: { file_id: id } }),
    },
  ]
  return <RowActions name={row.filename || id} actions={actions} />
}
