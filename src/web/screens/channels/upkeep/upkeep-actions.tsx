import { IconActivity, IconGitCompare, IconRefresh, IconTool, IconTrash, IconWallet } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useText } from '../../../lib/i18n.ts'
import { invalidate, useWrite } from '../../../lib/query.ts'
import { actionIcon } from '../../../ui/list/row-action.ts'
import { RowActions } from '../../../ui/list/row-actions.tsx'
import { HeadButton } from '../../../ui/page/head-button.tsx'
import { headTexts } from '../head-texts.ts'
import { texts } from '../texts.ts'
import type { Jobs } from './use-jobs.ts'

interface UpkeepActionsProps {
  readonly jobs: Jobs
  /** The number of channels with detected changes. */
  readonly changes: number
  readonly onChanges: () => void
  readonly onDeleted: () => void
}

/** Actions on all channels at once. */
export function UpkeepActions({ jobs, changes, onChanges, onDeleted }: UpkeepActionsProps) {
  const say = useText(texts)
  const sayHead = useText(headTexts)
  const client = useQueryClient()
  const fix = useWrite('POST /api/channel/fix', {
    invalidates: ['GET /api/channel/search'],
    success: (count) => say('fixed', { count }),
  })
  const remove = useWrite('DELETE /api/channel/disabled', {
    invalidates: ['GET /api/channel/search'],
    success: (count) => say('deletedCount', { count }),
    onSuccess: onDeleted,
  })

  return (
    <>
      <RowActions
        name={sayHead('title')}
        actions={[
          {
            label: say('refresh'),
            icon: <IconRefresh {...actionIcon} />,
            onClick: () => void invalidate(client, ['GET /api/channel/search', 'GET /api/channel/model_changes']),
          },
          {
            label: say('balanceAll'),
            icon: <IconWallet {...actionIcon} />,
            disabled: jobs.isRunning('refresh-balances'),
            onClick: () => jobs.start('refresh-balances'),
          },
          {
            label: changes > 0 ? say('changesCount', { count: changes }) : say('changes'),
            icon: <IconGitCompare {...actionIcon} />,
            onClick: onChanges,
          },
          {
            label: say('fix'),
            icon: <IconTool {...actionIcon} />,
            disabled: fix.isPending,
            ask: { title: say('fixTitle'), body: say('fixBody') },
            onClick: () => fix.mutate({}),
          },
          {
            label: say('deleteDisabled'),
            icon: <IconTrash {...actionIcon} />,
            danger: true,
            disabled: remove.isPending,
            ask: { title: say('deleteDisabledTitle'), body: say('deleteDisabledBody') },
            onClick: () => remove.mutate({}),
          },
        ]}
      />
      <HeadButton
        label={say('testAll')}
        icon={IconActivity}
        loading={jobs.isRunning('test-channels')}
        onClick={() => jobs.start('test-channels')}
      />
    </>
  )
}
