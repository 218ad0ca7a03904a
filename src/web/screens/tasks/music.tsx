import { Button } from '@mantine/core'
import { IconListDetails, IconMusic } from '@tabler/icons-react'
import { musicActionLabels, type Task, tasksCountedAhead } from '../../../contract/entities/task.ts'
import { useText } from '../../lib/i18n.ts'
import { useServerAddress } from '../../lib/server-address.ts'
import { useMay } from '../../lib/session.ts'
import { startOfDay } from '../../lib/times.ts'
import { ListFrame } from '../../ui/list/list-frame.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { actionIcon } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { showText } from './cells.tsx'
import { filterOf, useTaskInputs, useTaskState } from './filters.ts'
import { useMusicColumns } from './music-columns.tsx'
import { everyWhileRunning, RefreshButton } from './refresh.tsx'
import { texts } from './texts.ts'

const states = ['NOT_START', 'SUBMITTED', 'QUEUED', 'IN_PROGRESS', 'SUCCESS', 'FAILURE']

/** Music and lyrics of today; for admins those of everybody. */
export function Screen() {
  const say = useText(texts)
  const isAdmin = useMay('admin')
  const state = useTaskState(startOfDay())
  const filter = { ...filterOf(state.asked, isAdmin, 1), task_id: state.asked.id }
  const query = { ...filter, ...state.order, ...state.pagingFromZero }
  const list = useList(isAdmin ? 'GET /api/task/' : 'GET /api/task/self', { query }, { every: everyWhileRunning })
  const address = `${useServerAddress()}/suno/submit/music`

  return (
    <ListFrame
      dense
      name="tasks"
      title={say('tasks')}
      state={state}
      {...list}
      totalAtLeast={(list.total ?? 0) >= tasksCountedAhead}
      columns={useMusicColumns(isAdmin)}
      filters={useTaskInputs(musicActionLabels, states, isAdmin)}
      rowActions={(row) => <TaskActions row={row} />}
      file={{ line: isAdmin ? 'GET /api/task/export.csv' : 'GET /api/task/self/export.csv', name: 'tasks.csv', query: filter }}
      empty={{
        icon: <IconMusic />,
        title: say('tasksEmpty'),
        hint: say('tasksEmptyHint', { address }),
        action: (
          <Button variant="default" onClick={() => state.change({ from: startOfDay(29) })}>
            {say('showMonth')}
          </Button>
        ),
      }}
      actions={<RefreshButton lines={['GET /api/task/', 'GET /api/task/self']} />}
    />
  )
}

function TaskActions({ row }: { row: Task }) {
  const say = useText(texts)
  const show = {
    label: say('showDetails'),
    icon: <IconListDetails {...actionIcon} />,
    primary: true,
    onClick: () => showText(say('taskOf', { id: row.task_id }), JSON.stringify(row, null, 2)),
  }
  return <RowActions name={row.task_id} actions={[show]} />
}
