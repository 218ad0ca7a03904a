import { ActionIcon, Button, Skeleton, Switch, Tooltip } from '@mantine/core'
import { IconEraser, IconReceipt, IconRefresh } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { logsCountedAhead } from '../../../contract/entities/log.ts'
import type { CallReply } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import { invalidate, read } from '../../lib/query.ts'
import { useMay } from '../../lib/session.ts'
import { startOfDay } from '../../lib/times.ts'
import { DataTable } from '../../ui/data-table.tsx'
import type { EmptyProps } from '../../ui/empty.tsx'
import { ListFilters } from '../../ui/list-filters.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { useColumns } from './columns.tsx'
import { withFactors } from './factors.ts'
import { useFilterInputs, useLogFilters, useLogQuery } from './filters.ts'
import styles from './log.module.css'
import { LogCard } from './log-card.tsx'
import { Statistics } from './statistics.tsx'
import { texts } from './texts.ts'

const RowDetails = lazy(async () => ({ default: (await import('./row-details.tsx')).RowDetails }))

const ExportMenu = lazy(async () => ({ default: (await import('./export-menu.tsx')).ExportMenu }))
const PurgeDialog = lazy(async () => ({ default: (await import('./purge-dialog.tsx')).PurgeDialog }))

const liveEveryMs = 3000

export function Screen() {
  const say = useText(texts)
  const client = useQueryClient()
  const isAdmin = useMay('admin')
  const [live, setLive] = useState(false)
  const filters = useLogFilters()
  const { values, change, reset, filtered } = filters
  const { filter, paged } = useLogQuery(values, isAdmin)
  const every = live && liveEveryMs
  const columns = useColumns(isAdmin)
  const inputs = useFilterInputs(isAdmin)

  const line = isAdmin ? 'GET /api/log/' : 'GET /api/log/self'
  const logs = useQuery({
    ...read(line, { query: paged }),
    refetchInterval: every,
    placeholderData: (before) => before,
    select: withRows,
  })
  /** What is new comes on the first page of an open span. */
  const follow = (on: boolean) => {
    setLive(on)
    if (on) change({ page: 1, to: 0 })
  }
  const refresh = () => invalidate(client, ['GET /api/log/', 'GET /api/log/self', 'GET /api/log/stat', 'GET /api/log/self/stat'])

  return (
    <>
      <PageHeader
        title={say('title')}
        actions={
          <div className={styles.head}>
            <Statistics isAdmin={isAdmin} filter={filter} every={every} />
            <Tooltip label={say('liveHint')}>
              <Switch label={say('live')} checked={live} onChange={(event) => follow(event.currentTarget.checked)} />
            </Tooltip>
            <Tooltip label={say('refresh')}>
              <ActionIcon variant="default" size={34} aria-label={say('refresh')} onClick={() => void refresh()}>
                <IconRefresh size={17} stroke={1.6} />
              </ActionIcon>
            </Tooltip>
            <Suspense fallback={<Skeleton width={34} height={34} />}>
              <ExportMenu isAdmin={isAdmin} filter={filter} />
            </Suspense>
            {isAdmin && <PurgeButton />}
          </div>
        }
      />
      <DataTable
        dense
        name="log"
        label={say('title')}
        columns={columns}
        list={live ? { ...logs, isFetching: false } : logs}
        rowKey={(row) => row.id}
        page={values.page}
        onPage={(page) => change({ page })}
        totalAtLeast={logs.data && logs.data.total - (logs.data.page - 1) * logs.data.page_size >= logsCountedAhead}
        expand={(row) => (
          <Suspense fallback={<Skeleton height={160} />}>
            <RowDetails row={row} />
          </Suspense>
        )}
        card={(row) => <LogCard row={row} isAdmin={isAdmin} />}
        empty={useEmpty(filters)}
        toolbar={<ListFilters filters={inputs} values={values} onChange={change} onReset={reset} filtered={filtered} />}
      />
    </>
  )
}

function withRows(page: CallReply<'GET /api/log/'>) {
  return { ...page, items: page.items.map(withFactors) }
}

function PurgeButton() {
  const say = useText(texts)
  const [opened, setOpened] = useState(false)
  return (
    <>
      <Tooltip label={say('purge')}>
        <ActionIcon variant="default" size={34} aria-label={say('purge')} onClick={() => setOpened(true)}>
          <IconEraser size={17} stroke={1.6} />
        </ActionIcon>
      </Tooltip>
      {opened && (
        <Suspense>
          <PurgeDialog onClose={() => setOpened(false)} />
        </Suspense>
      )}
    </>
  )
}

function useEmpty({ filtered, change, reset }: ReturnType<typeof useLogFilters>): EmptyProps {
  const say = useText(texts)
  if (filtered) {
    return {
      title: say('empty'),
      hint: say('emptyHint'),
      action: (
        <Button variant="default" onClick={reset}>
          {say('clear')}
        </Button>
      ),
    }
  }
  return {
    icon: <IconReceipt />,
    title: say('emptyToday'),
    hint: say('emptyTodayHint'),
    action: (
      <Button variant="default" onClick={() => change({ from: startOfDay(29) })}>
        {say('showMonth')}
      </Button>
    ),
  }
}
