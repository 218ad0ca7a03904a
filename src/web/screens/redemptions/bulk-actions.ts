import type { Redemption } from '../../../contract/entities/redemption.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import type { Action } from '../../ui/list/row-action.ts'
import { copyText } from '../../ui/view/copy-text.tsx'
import { redemptionLists } from './redemption-lines.ts'
import { texts } from './texts.ts'

/** Bulk actions on codes. */
export function useBulkActions() {
  const say = useText(texts)
  const change = useWrite('POST /api/redemption/batch', {
    invalidates: redemptionLists,
    success: (count, { body }) => say(body.action === 'delete' ? 'bulkDeleted' : 'bulkChanged', { count }),
  })
  const disabled = change.isPending

  return (codes: readonly Redemption[], done: () => void): Action[] => {
    const count = codes.length
    const lines = () => codes.map(({ name, key }) => `${name}    ${key}`).join('\n')
    const run = (action: 'enable' | 'disable' | 'delete') => () =>
      change.mutate({ body: { ids: codes.map(({ id }) => id), action } }, { onSuccess: done })
    const ask = { title: say('bulkDeleteTitle', { count }), body: say('deleteBody') }
    return [
      { label: say('bulkCopy'), onClick: () => void copyText(lines(), say('bulkCopied', { count })) },
      { label: say('enable'), disabled, onClick: run('enable') },
      { label: say('disable'), disabled, onClick: run('disable') },
      { label: say('delete'), danger: true, disabled, ask, onClick: run('delete') },
    ]
  }
}
