import type { Token } from '../../../contract/entities/token.ts'
import { fullKey, hasKey } from '../../lib/full-key.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import type { Action } from '../../ui/list/row-action.ts'
import { copyText } from '../../ui/view/copy-text.tsx'
import { texts } from './texts.ts'
import { tokenLists } from './token-lines.ts'

/** Bulk actions on tokens. */
export function useBulkActions() {
  const say = useText(texts)
  const change = useWrite('POST /api/token/batch', {
    invalidates: tokenLists,
    success: (count, { body }) => say(body.action === 'delete' ? 'bulkDeleted' : 'bulkChanged', { count }),
  })
  const disabled = change.isPending

  return (tokens: readonly Token[], done: () => void): Action[] => {
    const count = tokens.length
    const withKey = tokens.filter(hasKey)
    const lines = () => withKey.map((token) => `${token.name}    ${fullKey(token)}`).join('\n')
    const run = (action: 'enable' | 'disable' | 'delete') => () =>
      change.mutate({ body: { ids: tokens.map(({ id }) => id), action } }, { onSuccess: done })
    const ask = { title: say('bulkDeleteTitle', { count }), body: say('deleteBody') }
    return [
      { label: say('copy'), onClick: () => void copyText(lines(), say('bulkCopied', { count: withKey.length })) },
      { label: say('enable'), disabled, onClick: run('enable') },
      { label: say('disable'), disabled, onClick: run('disable') },
      { label: say('delete'), danger: true, disabled, ask, onClick: run('delete') },
    ]
  }
}
