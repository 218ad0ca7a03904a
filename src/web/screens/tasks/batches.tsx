import { IconStack2 } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { type Batch, batchStateLabels } from '../../../contract/entities/batch.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { useServerAddress } from '../../lib/server-address.ts'
import { useMay } from '../../lib/session.ts'
import { startOfDay } from '../../lib/times.ts'
import type { Filter } from '../../ui/list/list-filters.tsx'
import { ListFrame } from '../../ui/list/list-frame.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { useListState } from '../../ui/list/list-state.ts'
import { BatchActions, batchLines } from './batch-actions.tsx'
import { useBatchColumns } from './batch-columns.tsx'
import { RefreshButton } from './refresh.tsx'
import { texts } from './texts.ts'

const StartBatchDialog = lazy(async () => ({ default: (await import('./start-batch.tsx')).StartBatchDialog }))

/** Batches of the last 30 days; for admins those of everybody. */
export function Screen() {
  const say = useText(texts)
  const isAdmin = useMay('admin')
  const state = useListState({ from: startOfDay(29), to: 0, id: '', state: '', channel_id: '', username: '' }, {})
  const { from, to, id, state: of, channel_id, username } = state.asked
  const own = { start_timestamp: from, end_timestamp: to, batch_id: id, state: of, ...state.paging }
  const query = isAdmin ? { ...own, channel_id, username } : own
  const list = useList(isAdmin ? 'GET /api/batch/' : 'GET /api/batch/self', { query }, { every: everyWhileOpen })
  const address = `${useServerAddress()}/v1/batches`
  const [isStarting, setStarting] = useState(false)

  return (
    <ListFrame
      dense
      name="batches"
      title={say('batches')}
      state={state}
      {...list}
      columns={useBatchColumns(isAdmin)}
      filters={useInputs(isAdmin)}
      rowActions={(row) => <BatchActions row={row} isAdmin={isAdmin} />}
      empty={{ icon: <IconStack2 />, title: say('batchesEmpty'), hint: say('batchesEmptyHint', { address }) }}
      actions={<RefreshButton lines={batchLines} />}
      add={{ label: say('startBatch'), onClick: () => setStarting(true) }}
    >
      {isStarting && (
        <Suspense>
          <StartBatchDialog onClose={() => setStarting(false)} />
        </Suspense>
      )}
    </ListFrame>
  )
}

const everyMs = 20_000

/** Vendors are asked once a minute. */
function everyWhileOpen(batches: readonly Batch[]): number | false {
  return batches.some(({ state }) => state !== 'settled' && state !== 'failed') && everyMs
}

function useInputs(isAdmin: boolean): readonly Filter[] {
  const say = useText(texts)
  const local = useLocal()
  const choices = Object.entries(batchStateLabels)
    .filter(([state]) => state !== 'held')
    .map(([value, { label }]) => ({ value, label: local(label) }))
  return [
    { kind: 'time', from: 'from', to: 'to', label: say('timeRange') },
    { kind: 'text', name: 'id', label: say('batchId'), width: 170 },
    { kind: 'select', name: 'state', label: say('anyStatus'), choices, width: 130 },
    ...(isAdmin
      ? [
          { kind: 'text' as const, name: 'username', label: say('username'), width: 110 },
          { kind: 'text' as const, name: 'channel_id', label: say('channelId'), width: 106 },
        ]
      : []),
  ]
}
