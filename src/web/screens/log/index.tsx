import { ActionIcon, Button, Skeleton, Switch, Tooltip } from '@mantine/core'
import { IconDownload, IconReceipt, IconRefresh } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { logsCountedAhead } from '../../../contract/entities/log.ts'
import type { CallReply } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import { invalidate, read } from '../../lib/query.ts'
import { useMay } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { formatTime, nowSeconds, startOfDay } from '../../lib/times.ts'
import { DataTable } from '../../ui/data-table.tsx'
import type { EmptyProps } from '../../ui/empty.tsx'
import { ListFilters } from '../../ui/list-filters.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { useColumns } from './columns.tsx'
import { csvOf, download } from './csv.ts'
import { withFactors } from './factors.ts'
import { useFilterInputs, useLogFilters, useLogQuery } from './filters.ts'
import styles from './log.module.css'
import { LogCard } from './log-card.tsx'
import { Statistics } from './statistics.tsx'
import { texts } from './texts.ts'

const RowDetails = lazy(async () => ({ default: (await import('./row-details.tsx')).RowDetails }))

const liveEveryMs = 5000

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
  const refresh = () => invalidate(client, ['GET /api/log/', 'GET /api/log/self', 'GET /api/log/stat', 'GET /api/log/self/stat'])

  return (
    <>
      <PageHeader
        title={say('title')}
        actions={
          <div className={styles.head}>
            <Statistics isAdmin={isAdmin} filter={filter} every={every} />
            <Tooltip label={say('liveHint')}>
              <Switch label={say('live')} checked={live} onChange={(event) => setLive(event.currentTarget.checked)} />
            </Tooltip>
            <Tooltip label={say('refresh')}>
              <ActionIcon variant="default" size={34} aria-label={say('refresh')} onClick={() => void refresh()}>
                <IconRefresh size={17} stroke={1.6} />
              </ActionIcon>
            </Tooltip>
            <ExportButton rows={logs.data?.items ?? []} />
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

function ExportButton({ rows }: { rows: Parameters<typeof csvOf>[0] }) {
  const say = useText(texts)
  const { quota_per_unit: perUsd } = useStatus()
  const name = () => `log-${formatTime(nowSeconds()).replace(/\D+/g, '-')}.csv`
  return (
    <Tooltip label={say('export')}>
      <ActionIcon
        variant="default"
        size={34}
        aria-label={say('export')}
        disabled={rows.length === 0}
        onClick={() => download(name(), csvOf(rows, perUsd))}
      >
        <IconDownload size={17} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
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
