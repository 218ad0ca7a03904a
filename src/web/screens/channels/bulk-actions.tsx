import { Button } from '@mantine/core'
import { channelStatus } from '../../../contract/entities/channel-status.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { confirm } from '../../ui/confirm.tsx'
import { texts } from './texts.ts'

/** What can be done with the selected channels. */
export function BulkActions({ ids, onTag, onDone }: { ids: readonly number[]; onTag: () => void; onDone: () => void }) {
  const say = useText(texts)
  const common = { invalidates: ['GET /api/channel/search'], onSuccess: onDone } as const
  const change = useWrite('POST /api/channel/batch/status', {
    ...common,
    success: (count) => say('bulkChanged', { count }),
  })
  const remove = useWrite('POST /api/channel/batch', { ...common, success: (count) => say('deletedCount', { count }) })
  const busy = change.isPending || remove.isPending

  async function askRemove(): Promise<void> {
    const title = say('bulkDeleteTitle', { count: ids.length })
    const sure = await confirm({ title, body: say('deleteBody'), confirmLabel: say('delete'), danger: true })
    if (sure) remove.mutate({ body: { ids: [...ids] } })
  }

  const setStatus = (status: 1 | 2) => change.mutate({ body: { ids: [...ids], status } })
  return (
    <>
      <Button size="compact-sm" variant="default" disabled={busy} onClick={() => setStatus(channelStatus.enabled)}>
        {say('enable')}
      </Button>
      <Button size="compact-sm" variant="default" disabled={busy} onClick={() => setStatus(channelStatus.disabled)}>
        {say('disable')}
      </Button>
      <Button size="compact-sm" variant="default" disabled={busy} onClick={onTag}>
        {say('setTag')}
      </Button>
      <Button size="compact-sm" variant="light" color="red" disabled={busy} onClick={() => void askRemove()}>
        {say('delete')}
      </Button>
    </>
  )
}
