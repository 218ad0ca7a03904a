import { IconFileSpreadsheet, IconPlayerStop } from '@tabler/icons-react'
import type { Batch } from '../../../contract/entities/batch.ts'
import { download } from '../../lib/download.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { useSession } from '../../lib/session.ts'
import { actionIcon, type RowAction } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { texts } from './texts.ts'

/** What can be done with a batch: the file of its requests, and, for its owner, to cancel it while it runs. */
export function BatchActions({ row, isAdmin }: { row: Batch; isAdmin: boolean }) {
  const say = useText(texts)
  const userId = useSession()?.id
  const { batch_id } = row
  const cancel = useWrite('POST /api/batch/self/cancel', {
    invalidates: ['GET /api/batch/', 'GET /api/batch/self'],
    success: say('batchCancelled'),
  })
  const file = isAdmin ? 'GET /api/batch/lines/export.csv' : 'GET /api/batch/self/lines/export.csv'
  const actions: RowAction[] = [
    {
      label: say('requestsFile'),
      icon: <IconFileSpreadsheet {...actionIcon} />,
      primary: true,
      disabled: row.state === 'failed',
      onClick: () => download(file, `${batch_id}.csv`, { batch_id }),
    },
    ...(row.user_id === userId
      ? [
          {
            label: say('cancelBatch'),
            icon: <IconPlayerStop {...actionIcon} />,
            danger: true,
            disabled: row.state !== 'running',
            ask: { title: say('cancelBatch'), object: batch_id, body: say('cancelBatchBody') },
            onClick: () => cancel.mutate({ body: { batch_id } }),
          },
        ]
      : []),
  ]
  return <RowActions name={batch_id} actions={actions} />
}
