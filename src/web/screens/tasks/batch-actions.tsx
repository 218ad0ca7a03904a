import { IconFileAlert, IconFileDownload, IconFileSpreadsheet, IconPlayerStop } from '@tabler/icons-react'
import type { Batch } from '../../../contract/entities/batch.ts'
import { downloadFromRelay } from '../../lib/call-relay.ts'
import { download } from '../../lib/download.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { useSession } from '../../lib/session.ts'
import { actionIcon, type RowAction } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { texts } from './texts.ts'

export const batchLines = ['GET /api/batch/', 'GET /api/batch/self'] as const

/** What can be done with a batch: the file of its requests, and, for its owner, to download its results, and to cancel it while it runs. */
export function BatchActions({ row, isAdmin }: { row: Batch; isAdmin: boolean }) {
  const say = useText(texts)
  const userId = useSession()?.id
  const { batch_id } = row
  const cancel = useWrite('POST /api/batch/self/cancel', {
    invalidates: batchLines,
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
            label: say('resultsFile'),
            icon: <IconFileDownload {...actionIcon} />,
            // At OpenAI, a batch without a single reply has no file of results.
            disabled: row.state !== 'settled' || (row.dialect === 'openai' && row.output_file === ''),
            onClick: () => downloadFromRelay(`/pg/batches/${batch_id}/results`, `${batch_id}.results.${endingOf(row)}`),
          },
          {
            label: say('errorsFile'),
            icon: <IconFileAlert {...actionIcon} />,
            disabled: row.error_file === '',
            onClick: () => downloadFromRelay(`/pg/files/${row.error_file}/content`, `${batch_id}.errors.jsonl`),
          },
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

/** Gemini has the results of requests in a body in one object. */
function endingOf({ dialect, output_file }: Batch): string {
  return dialect === 'gemini' && output_file === '' ? 'json' : 'jsonl'
}
