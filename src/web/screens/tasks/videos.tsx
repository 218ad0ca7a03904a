import { IconMovie } from '@tabler/icons-react'
import { tasksCountedAhead, videoActionLabels } from '../../../contract/entities/task.ts'
import { useText } from '../../lib/i18n.ts'
import { useServerAddress } from '../../lib/server-address.ts'
import { useMay } from '../../lib/session.ts'
import { startOfDay } from '../../lib/times.ts'
import { ListFrame } from '../../ui/list/list-frame.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { filterOf, useTaskInputs, useTaskState } from './filters.ts'
import { everyWhileRunning, RefreshButton } from './refresh.tsx'
import { texts } from './texts.ts'
import { useVideoColumns } from './video-columns.tsx'

const states = ['NOT_START', 'QUEUED', 'IN_PROGRESS', 'SUCCESS', 'FAILURE']

/** Videos of the last 30 days; for admins those of everybody. */
export function Screen() {
  const say = useText(texts)
  const isAdmin = useMay('admin')
  const state = useTaskState(startOfDay(29))
  const filter = { ...filterOf(state.asked, isAdmin, 1), video_id: state.asked.id }
  const query = { ...filter, ...state.order, ...state.pagingFromZero }
  const list = useList(isAdmin ? 'GET /api/video/' : 'GET /api/video/self', { query }, { every: everyWhileRunning })
  const address = `${useServerAddress()}/v1/videos`

  return (
    <ListFrame
      dense
      name="videos"
      title={say('videos')}
      state={state}
      {...list}
      totalAtLeast={(list.total ?? 0) >= tasksCountedAhead}
      columns={useVideoColumns(isAdmin)}
      filters={useTaskInputs(videoActionLabels, states, isAdmin)}
      file={{ line: isAdmin ? 'GET /api/video/export.csv' : 'GET /api/video/self/export.csv', name: 'videos.csv', query: filter }}
      empty={{ icon: <IconMovie />, title: say('videosEmpty'), hint: say('videosEmptyHint', { address }) }}
      actions={<RefreshButton lines={['GET /api/video/', 'GET /api/video/self']} />}
    />
  )
}
