import { Button } from '@mantine/core'
import type { Token } from '../../../contract/entities/token.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { confirm } from '../../ui/confirm.tsx'
import { copyText } from '../../ui/copy-text.tsx'
import { texts } from './texts.ts'
import { fullKey, tokenLists } from './token-lines.ts'

/** What can be done with the selected tokens. */
export function BulkActions({ tokens, onDone }: { tokens: readonly Token[]; onDone: () => void }) {
  const say = useText(texts)
  const change = useWrite('POST /api/token/batch', {
    invalidates: tokenLists,
    success: (count, { body }) => say(body.action === 'delete' ? 'bulkDeleted' : 'bulkChanged', { count }),
    onSuccess: onDone,
  })
  const act = (action: 'enable' | 'disable' | 'delete') => change.mutate({ body: { ids: tokens.map(({ id }) => id), action } })

  function copy(): void {
    const lines = tokens.map((token) => `${token.name}    ${fullKey(token)}`)
    void copyText(lines.join('\n'), say('bulkCopied', { count: tokens.length }))
  }

  async function askRemove(): Promise<void> {
    const title = say('bulkDeleteTitle', { count: tokens.length })
    const sure = await confirm({ title, body: say('deleteBody'), confirmLabel: say('delete'), danger: true })
    if (sure) act('delete')
  }

  const look = { size: 'compact-sm', variant: 'default', disabled: change.isPending } as const
  return (
    <>
      <Button {...look} onClick={copy}>
        {say('copy')}
      </Button>
      <Button {...look} onClick={() => act('enable')}>
        {say('enable')}
      </Button>
      <Button {...look} onClick={() => act('disable')}>
        {say('disable')}
      </Button>
      <Button {...look} variant="light" color="red" onClick={() => void askRemove()}>
        {say('delete')}
      </Button>
    </>
  )
}
