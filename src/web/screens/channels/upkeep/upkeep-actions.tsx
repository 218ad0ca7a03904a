import { Button } from '@mantine/core'
import { IconActivity, IconRefresh, IconTool, IconTrash, IconWallet } from '@tabler/icons-react'
import { useText } from '../../../lib/i18n.ts'
import { useWrite } from '../../../lib/query.ts'
import { confirm } from '../../../ui/confirm.tsx'
import { RowActions } from '../../../ui/row-actions.tsx'
import { texts } from '../texts.ts'
import type { Jobs } from './use-jobs.ts'

export interface UpkeepActionsProps {
  readonly jobs: Jobs
  /** How many channels have noticed changes. */
  readonly changes: number
  readonly onChanges: () => void
  readonly onDeleted: () => void
}

const icon = { size: 16, stroke: 1.6 } as const

/** What can be done with all channels at once. */
export function UpkeepActions({ jobs, changes, onChanges, onDeleted }: UpkeepActionsProps) {
  const say = useText(texts)
  const fix = useWrite('POST /api/channel/fix', {
    invalidates: ['GET /api/channel/search'],
    success: (count) => say('fixed', { count }),
  })
  const remove = useWrite('DELETE /api/channel/disabled', {
    invalidates: ['GET /api/channel/search'],
    success: (count) => say('deletedCount', { count }),
    onSuccess: onDeleted,
  })

  async function askFix(): Promise<void> {
    if (await confirm({ title: say('fixTitle'), body: say('fixBody'), confirmLabel: say('fix') })) fix.mutate({})
  }

  async function askRemove(): Promise<void> {
    const sure = await confirm({
      title: say('deleteDisabledTitle'),
      body: say('deleteDisabledBody'),
      confirmLabel: say('delete'),
      danger: true,
    })
    if (sure) remove.mutate({})
  }

  return (
    <>
      <RowActions
        name={say('title')}
        actions={[
          {
            label: say('balanceAll'),
            icon: <IconWallet {...icon} />,
            disabled: jobs.isRunning('refresh-balances'),
            onClick: () => jobs.start('refresh-balances'),
          },
          {
            label: changes > 0 ? say('changesCount', { count: changes }) : say('changes'),
            icon: <IconRefresh {...icon} />,
            onClick: onChanges,
          },
          { label: say('fix'), icon: <IconTool {...icon} />, disabled: fix.isPending, onClick: () => void askFix() },
          {
            label: say('deleteDisabled'),
            icon: <IconTrash {...icon} />,
            danger: true,
            disabled: remove.isPending,
            onClick: () => void askRemove(),
          },
        ]}
      />
      <Button
        variant="default"
        leftSection={<IconActivity size={16} stroke={1.6} />}
        loading={jobs.isRunning('test-channels')}
        onClick={() => jobs.start('test-channels')}
      >
        {say('testAll')}
      </Button>
    </>
  )
}
