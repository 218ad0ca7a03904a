import type { Channel } from '../../../contract/entities/channel.ts'
import { channelStatus } from '../../../contract/entities/channel-status.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import type { Action } from '../../ui/list/row-action.ts'
import { texts } from './texts.ts'
import { useBulkTest } from './use-bulk-test.ts'

/** Bulk actions on channels. */
export function useBulkActions({ onTag }: { onTag: (ids: readonly number[], done: () => void) => void }) {
  const say = useText(texts)
  const invalidates = ['GET /api/channel/search'] as const
  const change = useWrite('POST /api/channel/batch/status', { invalidates, success: (count) => say('bulkChanged', { count }) })
  const remove = useWrite('POST /api/channel/batch', { invalidates, success: (count) => say('deletedCount', { count }) })
  const test = useBulkTest()
  const disabled = change.isPending || remove.isPending || test.progress !== undefined

  return (channels: readonly Channel[], done: () => void): Action[] => {
    const ids = channels.map(({ id }) => id)
    const set = (status: 1 | 2) => () => change.mutate({ body: { ids, status } }, { onSuccess: done })
    const ask = { title: say('bulkDeleteTitle', { count: ids.length }), body: say('deleteBody') }
    return [
      { label: say('enable'), disabled, onClick: set(channelStatus.enabled) },
      { label: say('disable'), disabled, onClick: set(channelStatus.disabled) },
      {
        label: test.progress ? say('testingEach', test.progress) : say('testEach'),
        disabled,
        onClick: () => void test.run(channels),
      },
      { label: say('setTag'), disabled, onClick: () => onTag(ids, done) },
      {
        label: say('delete'),
        danger: true,
        disabled,
        ask,
        onClick: () => remove.mutate({ body: { ids } }, { onSuccess: done }),
      },
    ]
  }
}
