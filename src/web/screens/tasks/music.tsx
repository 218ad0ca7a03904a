import { Button } from '@mantine/core'
import { IconMusic } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { musicActionLabels, tasksCountedAhead } from '../../../contract/entities/task.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { useMay } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { startOfDay } from '../../lib/times.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { useFilteredEmpty } from '../../ui/filtered-empty.tsx'
import { ListFilters } from '../../ui/list-filters.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { useTaskFilters, useTaskInputs, useTaskQuery } from './filters.ts'
import { useMusicColumns } from './music-columns.tsx'
import { everyWhileRunning, RefreshButton } from './refresh.tsx'
import { texts } from './texts.ts'

const states = ['NOT_START', 'SUBMITTED', 'QUEUED', 'IN_PROGRESS', 'SUCCESS', 'FAILURE']

/** Music and lyrics of today; for admins those of everybody. */
export function Screen() {
  const say = useText(texts)
  const isAdmin = useMay('admin')
  const { server_address: site } = useStatus()
  const { values, change, reset, filtered } = useTaskFilters(startOfDay())
  const query = { ...useTaskQuery(values, isAdmin, 1), task_id: values.id }
  const line = isAdmin ? 'GET /api/task/' : 'GET /api/task/self'
  const list = useQuery({ ...read(line, { query }), placeholderData: (before) => before, refetchInterval: everyWhileRunning })
  const filteredEmpty = useFilteredEmpty(reset)
  const address = `${site || location.origin}/suno/submit/music`
  const empty = {
    icon: <IconMusic />,
    title: say('tasksEmpty'),
    hint: say('tasksEmptyHint', { address }),
    action: (
      <Button variant="default" onClick={() => change({ from: startOfDay(30) })}>
        {say('showMonth')}
      </Button>
    ),
  }

  return (
    <>
      <PageHeader title={say('tasks')} actions={<RefreshButton lines={['GET /api/task/', 'GET /api/task/self']} />} />
      <DataTable
        dense
        name="tasks"
        label={say('tasks')}
        columns={useMusicColumns(isAdmin)}
        list={list}
        rowKey={(row) => row.id}
        page={values.page}
        onPage={(page) => change({ page })}
        totalAtLeast={list.data && 'total' in list.data && list.data.total >= tasksCountedAhead}
        empty={filtered ? filteredEmpty : empty}
        toolbar={
          <ListFilters
            filters={useTaskInputs(musicActionLabels, states, isAdmin)}
            values={values}
            onChange={change}
            onReset={reset}
            filtered={filtered}
          />
        }
      />
    </>
  )
}
