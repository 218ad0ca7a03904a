import { ActionIcon, Box, Button, Skeleton, Switch, Tooltip } from '@mantine/core'
import { IconDownload, IconReceipt, IconRefresh } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { logType } from '../../../contract/entities/log.ts'
import { useText } from '../../lib/i18n.ts'
import { useNarrow } from '../../lib/narrow.ts'
import { usePayer } from '../../lib/payer.ts'
import { invalidate } from '../../lib/query.ts'
import { useMay } from '../../lib/session.ts'
import { formatTime, startOfDay } from '../../lib/times.ts'
import { ListFrame } from '../../ui/list/list-frame.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import { useColumns } from './columns.tsx'
import { filterOf, useFilterInputs, useLogState } from './filters.ts'
import styles from './log.module.css'
import { LogCard } from './log-card.tsx'
import { RunningPanel } from './running/running-panel.tsx'
import { Statistics } from './statistics.tsx'
import { texts } from './texts.ts'
import { rowsOf, useHistogram } from './use-histogram.ts'
import { useLogList } from './use-log-list.ts'

const RowDetails = lazy(async () => ({ default: (await import('./row-details.tsx')).RowDetails }))

const ExportDialog = lazy(async () => ({ default: (await import('./export-dialog.tsx')).ExportDialog }))
const Histogram = lazy(async () => ({ default: (await import('./histogram.tsx')).Histogram }))
const AdminTools = lazy(async () => ({ default: (await import('./admin-tools.tsx')).AdminTools }))

const histogramLines = ['GET /api/log/histogram', 'GET /api/log/self/histogram'] as const
const liveEveryMs = 3000

export function Screen() {
  const say = useText(texts)
  const client = useQueryClient()
  const isAdmin = useMay('admin')
  const isPersonal = usePayer() === null
  const narrow = useNarrow()
  const [live, setLive] = useState(false)
  const [exporting, setExporting] = useState(false)
  const state = useLogState()
  const filter = filterOf(state.asked, isAdmin)
  const every = live && liveEveryMs
  const list = useLogList({ isAdmin, filter, order: state.order, paging: state.paging, every })

  const { isShown, calls } = useHistogram({ isAdmin, filter, every })
  const searchedTo = list.data?.searched_to ?? 0

  /** New rows appear on the first page of a time range without an end. */
  const follow = (on: boolean) => {
    setLive(on)
    if (on) state.change({ page: 1, to: 0, sort: '-created_at' })
  }
  const showFailed = (on: boolean) => state.change({ page: 1, type: on ? logType.error : 0, status: '', code: '' })
  const refresh = () =>
    invalidate(client, ['GET /api/log/', 'GET /api/log/self', 'GET /api/log/stat', 'GET /api/log/self/stat', ...histogramLines])

  const statistics = <Statistics isAdmin={isAdmin} filter={filter} every={every} />
  const switches = (
    <>
      <Switch
        mr="xs"
        label={say('failedOnly')}
        checked={state.asked.type === logType.error}
        onChange={(event) => showFailed(event.currentTarget.checked)}
      />
      <Tooltip label={say('liveHint')}>
        <Switch label={say('live')} checked={live} onChange={(event) => follow(event.currentTarget.checked)} />
      </Tooltip>
    </>
  )

  return (
    <ListFrame
      dense
      tall
      name="log"
      title={say('title')}
      state={state}
      {...list}
      isFetching={list.isFetching && !live}
      columns={useColumns(isAdmin)}
      filters={useFilterInputs(isAdmin, state.asked)}
      isOpen={() => state.asked.request_id !== ''}
      expand={(row) => (
        <Suspense fallback={<Skeleton height={160} />}>
          <RowDetails row={row} />
        </Suspense>
      )}
      card={(row) => <LogCard row={row} isAdmin={isAdmin} />}
      empty={{
        icon: <IconReceipt />,
        title: say(searchedTo > 0 ? 'emptyPart' : 'emptyToday'),
        hint: searchedTo > 0 ? undefined : say('emptyTodayHint'),
        action: (
          <Button variant="default" onClick={() => state.change({ from: startOfDay(29) })}>
            {say('showMonth')}
          </Button>
        ),
      }}
      tools={narrow && switches}
      actions={
        <div className={styles.head}>
          {!narrow && statistics}
          {!narrow && switches}
          <Tooltip label={say('refresh')}>
            <ActionIcon variant="default" size={36} aria-label={say('refresh')} onClick={() => void refresh()}>
              <IconRefresh size={17} stroke={1.6} />
            </ActionIcon>
          </Tooltip>
          <Tooltip label={say('export')}>
            <ActionIcon variant="default" size={36} aria-label={say('export')} onClick={() => setExporting(true)}>
              <IconDownload size={17} stroke={1.6} />
            </ActionIcon>
          </Tooltip>
          {isAdmin && (
            <Suspense fallback={<Skeleton width={36} height={36} />}>
              <AdminTools />
            </Suspense>
          )}
        </div>
      }
    >
      {narrow && statistics}
      {isPersonal && <RunningPanel isAdmin={isAdmin} />}
      {exporting && (
        <Suspense>
          <ExportDialog
            isAdmin={isAdmin}
            filter={filter}
            expected={rowsOf({ total: list.total ?? 0, totalAtLeast: list.totalAtLeast }, calls)}
            onClose={() => setExporting(false)}
          />
        </Suspense>
      )}
      {isShown && !narrow && (
        <Suspense>
          <Histogram calls={calls} onSelect={({ from, to }) => state.change({ from, to, page: 1 })} />
        </Suspense>
      )}
      {searchedTo > 0 && (
        <Box mb="sm">
          <Notice
            title={say('searchedTo', { time: formatTime(searchedTo) })}
            action={
              <Button
                size="compact-sm"
                variant="default"
                loading={list.isPrevious}
                onClick={() => state.change({ page: state.paging.p + 1 })}
              >
                {say('searchOn')}
              </Button>
            }
          >
            {say('searchedToHint')}
          </Notice>
        </Box>
      )}
    </ListFrame>
  )
}
