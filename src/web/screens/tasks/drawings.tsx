import { Box } from '@mantine/core'
import { IconPhoto } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { drawingActionLabels, tasksCountedAhead } from '../../../contract/entities/task.ts'
import { useText } from '../../lib/i18n.ts'
import { useServerAddress } from '../../lib/server-address.ts'
import { useMay } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { startOfDay } from '../../lib/times.ts'
import { ListFrame } from '../../ui/list/list-frame.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { Notice } from '../../ui/page/notice.tsx'
import { useDrawingColumns } from './drawing-columns.tsx'
import { filterOf, useTaskInputs, useTaskState } from './filters.ts'
import { everyWhileRunning, RefreshButton } from './refresh.tsx'
import styles from './tasks.module.css'
import { texts } from './texts.ts'

const states = ['NOT_START', 'SUBMITTED', 'MODAL', 'IN_PROGRESS', 'SUCCESS', 'FAILURE']

/** Drawings of the last 30 days; for admins those of everybody. */
export function Screen() {
  const say = useText(texts)
  const isAdmin = useMay('admin')
  const { mj_notify_enabled: hasNotices } = useStatus()
  const state = useTaskState(startOfDay(29))
  const filter = { ...filterOf(state.asked, isAdmin, 1000), mj_id: state.asked.id }
  const query = { ...filter, ...state.order, ...state.pagingFromZero }
  const list = useList(isAdmin ? 'GET /api/mj/' : 'GET /api/mj/self', { query }, { every: everyWhileRunning })
  const address = `${useServerAddress()}/mj/submit/imagine`

  return (
    <ListFrame
      dense
      name="drawings"
      title={say('drawings')}
      state={state}
      {...list}
      totalAtLeast={(list.total ?? 0) >= tasksCountedAhead}
      columns={useDrawingColumns(isAdmin)}
      filters={useTaskInputs(drawingActionLabels, states, isAdmin)}
      file={{ line: isAdmin ? 'GET /api/mj/export.csv' : 'GET /api/mj/self/export.csv', name: 'drawings.csv', query: filter }}
      empty={{ icon: <IconPhoto />, title: say('drawingsEmpty'), hint: say('drawingsEmptyHint', { address }) }}
      actions={<RefreshButton lines={['GET /api/mj/', 'GET /api/mj/self']} />}
    >
      {isAdmin && !hasNotices && (
        <Box mb="md">
          <Notice
            action={
              <Link to="/setting" search={{ tab: 'operation' }} className={styles.link}>
                {say('openSettings')}
              </Link>
            }
          >
            {say('noticesOff')}
          </Notice>
        </Box>
      )}
    </ListFrame>
  )
}
