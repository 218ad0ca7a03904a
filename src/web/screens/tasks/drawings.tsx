import { IconPhoto } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { drawingActionLabels, tasksCountedAhead } from '../../../contract/entities/task.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { useMay } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { startOfDay } from '../../lib/times.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { useFilteredEmpty } from '../../ui/filtered-empty.tsx'
import { ListFilters } from '../../ui/list-filters.tsx'
import { Notice } from '../../ui/notice.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { useDrawingColumns } from './drawing-columns.tsx'
import { useTaskFilters, useTaskInputs, useTaskQuery } from './filters.ts'
import { everyWhileRunning, RefreshButton } from './refresh.tsx'
import styles from './tasks.module.css'
import { texts } from './texts.ts'

const states = ['NOT_START', 'SUBMITTED', 'MODAL', 'IN_PROGRESS', 'SUCCESS', 'FAILURE']

/** Drawings of the last 30 days; for admins those of everybody. */
export function Screen() {
  const say = useText(texts)
  const isAdmin = useMay('admin')
  const { mj_notify_enabled: hasNotices, server_address: site } = useStatus()
  const { values, change, reset, filtered } = useTaskFilters(startOfDay(30))
  const query = { ...useTaskQuery(values, isAdmin, 1000), mj_id: values.id }
  const line = isAdmin ? 'GET /api/mj/' : 'GET /api/mj/self'
  const list = useQuery({ ...read(line, { query }), placeholderData: (before) => before, refetchInterval: everyWhileRunning })
  const filteredEmpty = useFilteredEmpty(reset)
  const address = `${site || location.origin}/mj/submit/imagine`

  return (
    <>
      <PageHeader title={say('drawings')} actions={<RefreshButton lines={['GET /api/mj/', 'GET /api/mj/self']} />} />
      {isAdmin && !hasNotices && (
        <div className={styles.notice}>
          <Notice
            action={
              <Link to="/setting" search={{ tab: 'operation' }} className={styles.link}>
                {say('openSettings')}
              </Link>
            }
          >
            {say('noticesOff')}
          </Notice>
        </div>
      )}
      <DataTable
        dense
        name="drawings"
        label={say('drawings')}
        columns={useDrawingColumns(isAdmin)}
        list={list}
        rowKey={(row) => row.id}
        page={values.page}
        onPage={(page) => change({ page })}
        totalAtLeast={list.data && 'total' in list.data && list.data.total >= tasksCountedAhead}
        empty={
          filtered
            ? filteredEmpty
            : { icon: <IconPhoto />, title: say('drawingsEmpty'), hint: say('drawingsEmptyHint', { address }) }
        }
        toolbar={
          <ListFilters
            filters={useTaskInputs(drawingActionLabels, states, isAdmin)}
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
