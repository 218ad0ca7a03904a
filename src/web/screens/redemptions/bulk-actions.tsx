import { Button } from '@mantine/core'
import type { Redemption } from '../../../contract/entities/redemption.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { confirm } from '../../ui/confirm.tsx'
import { copyText } from '../../ui/copy-text.tsx'
import { redemptionLists } from './redemption-lines.ts'
import { texts } from './texts.ts'

/** What can be done with the selected codes. */
export function BulkActions({ codes, onDone }: { codes: readonly Redemption[]; onDone: () => void }) {
  const say = useText(texts)
  const change = useWrite('POST /api/redemption/batch', {
    invalidates: redemptionLists,
    success: (count, { body }) => say(body.action === 'delete' ? 'bulkDeleted' : 'bulkChanged', { count }),
    onSuccess: onDone,
  })
  const act = (action: 'enable' | 'disable' | 'delete') => change.mutate({ body: { ids: codes.map(({ id }) => id), action } })
  const copy = () =>
    copyText(codes.map(({ name, key }) => `${name}    ${key}`).join('\n'), say('bulkCopied', { count: codes.length }))

  async function askRemove(): Promise<void> {
    const title = say('bulkDeleteTitle', { count: codes.length })
    const sure = await confirm({ title, body: say('deleteBody'), confirmLabel: say('delete'), danger: true })
    if (sure) act('delete')
  }

  const look = { size: 'compact-sm', variant: 'default', disabled: change.isPending } as const
  return (
    <>
      <Button {...look} onClick={() => void copy()}>
        {say('bulkCopy')}
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
