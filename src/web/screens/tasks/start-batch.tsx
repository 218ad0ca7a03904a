import { Button, Group, Select, Stack } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { batchEndpoints } from '../../../contract/entities/batch.ts'
import type { StoredFile } from '../../../contract/entities/stored-file.ts'
import { callRelay } from '../../lib/call-relay.ts'
import { useText } from '../../lib/i18n.ts'
import { invalidate, read } from '../../lib/query.ts'
import { useServerAddress } from '../../lib/server-address.ts'
import { formatTime } from '../../lib/times.ts'
import { toast } from '../../lib/toast.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import { batchLines } from './batch-actions.tsx'
import { useFileSize } from './file-size.ts'
import { texts } from './texts.ts'

const inputsMax = 100
const batchInputs = { query: { purpose: 'batch', p: 1, page_size: inputsMax } }

/** Orders a batch of the requests in an own file, as a call with a token does. */
export function StartBatchDialog({ onClose }: { onClose: () => void }) {
  const say = useText(texts)
  const sizeOf = useFileSize()
  const client = useQueryClient()
  const address = `${useServerAddress()}/v1/files`
  const { data } = useQuery(read('GET /api/file/self', batchInputs))
  const [input, setInput] = useState<string | null>(null)
  const [endpoint, setEndpoint] = useState<string>(batchEndpoints[0])
  const start = useMutation({
    mutationFn: (file: string) => orderBatch(file, endpoint),
    onSuccess: async ({ id, status, errors }) => {
      const [first] = errors?.data ?? []
      if (status === 'failed') toast.error(say('batchRefused', { line: first?.line ?? 0, reason: first?.message ?? '' }))
      else toast.success(say('batchStarted', { id }))
      onClose()
      await invalidate(client, batchLines)
    },
    onError: toast.failure,
  })
  const labelOf = ({ filename, created_at, bytes }: StoredFile) => `${filename} · ${sizeOf(bytes)} · ${formatTime(created_at)}`
  const inputs = data?.items.filter(({ state }) => state === 'kept')

  return (
    <Dialog title={say('startBatch')} size="md" onClose={onClose}>
      <Stack gap="md">
        {inputs?.length === 0 && <Notice>{say('noBatchInput', { address })}</Notice>}
        <Select
          data-autofocus
          label={say('batchInput')}
          description={say('batchInputHint')}
          data={inputs?.map((file) => ({ value: file.file_id, label: labelOf(file) })) ?? []}
          disabled={inputs?.length === 0}
          value={input}
          onChange={setInput}
        />
        <Select
          label={say('endpoint')}
          description={say('startBatchHint')}
          data={batchEndpoints}
          allowDeselect={false}
          value={endpoint}
          onChange={(chosen) => chosen !== null && setEndpoint(chosen)}
        />
        <Group justify="flex-end">
          <Button disabled={input === null} loading={start.isPending} onClick={() => input !== null && start.mutate(input)}>
            {say('startBatch')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  )
}

interface Ordered {
  readonly id: string
  readonly status: string
  /** Why it has failed: the requests that are at fault. */
  readonly errors?: { readonly data?: readonly { readonly message: string; readonly line: number }[] } | null
}

async function orderBatch(file: string, endpoint: string): Promise<Ordered> {
  const response = await callRelay('/pg/batches', { input_file_id: file, endpoint, completion_window: '24h' })
  // Our server answers with a batch in the form of OpenAI's.
  return (await response.json()) as Ordered
}
