import { Button } from '@mantine/core'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { confirm } from '../../ui/confirm.tsx'
import { texts } from './texts.ts'

export function DeleteDisabled({ onDone }: { onDone: () => void }) {
  const say = useText(texts)
  const remove = useWrite('DELETE /api/channel/disabled', {
    invalidates: ['GET /api/channel/search'],
    success: (count) => say('deletedCount', { count }),
    onSuccess: onDone,
  })

  async function ask(): Promise<void> {
    const sure = await confirm({
      title: say('deleteDisabledTitle'),
      body: say('deleteDisabledBody'),
      confirmLabel: say('delete'),
      danger: true,
    })
    if (sure) remove.mutate({})
  }

  return (
    <Button variant="subtle" color="red" loading={remove.isPending} onClick={() => void ask()}>
      {say('deleteDisabled')}
    </Button>
  )
}
