import { Button, Progress } from '@mantine/core'
import { IconPlayerPlay } from '@tabler/icons-react'
import { useState } from 'react'
import type { SystemJob } from '../../../../contract/entities/system.ts'
import { type Say, useLocal, useText } from '../../../lib/i18n.ts'
import { useWrite } from '../../../lib/query.ts'
import { DataTable } from '../../../ui/list/data-table.tsx'
import { useList } from '../../../ui/list/list-rows.ts'
import type { Column } from '../../../ui/list/listing.ts'
import { Panel } from '../../../ui/page/panel.tsx'
import shared from '../../../ui/shared.module.css'
import { Tag } from '../../../ui/view/tag.tsx'
import { TimeText } from '../../../ui/view/time-text.tsx'
import styles from './runtime.module.css'
import { texts } from './texts.ts'

const colors = { never: 'gray', running: 'sluice', ok: 'green', failed: 'red', timeout: 'orange' } as const
const pollMs = { running: 1000, resting: 15_000 }
/** How long jobs are polled often after one was started, since it may be over before it is seen running. */
const watchedMs = 20_000

/** The jobs of the server: schedules, progress, results, and a button that starts each. */
export function JobsPanel() {
  const say = useText(texts)
  const [startedMs, setStartedMs] = useState(0)
  const isBusy = (rows: readonly SystemJob[]) =>
    Date.now() - startedMs < watchedMs || rows.some(({ outcome }) => outcome === 'running')
  const jobs = useList('GET /api/job/', {}, { every: (rows) => (isBusy(rows) ? pollMs.running : pollMs.resting) })
  return (
    <Panel title={say('jobs')} description={say('jobsHint')}>
      <DataTable
        label={say('jobs')}
        dense
        columns={useColumns()}
        {...jobs}
        rowKey={({ name }) => name}
        rowActions={(job) => job.on_demand && <RunButton job={job} onStart={() => setStartedMs(Date.now())} />}
      />
    </Panel>
  )
}

function useColumns(): Column<SystemJob>[] {
  const say = useText(texts)
  const local = useLocal()
  return [
    {
      key: 'job',
      title: say('job'),
      heads: true,
      width: 280,
      cell: ({ label, name }) => (
        <span className={styles.name}>
          {local(label)}
          <code className={styles.code}>{name}</code>
        </span>
      ),
    },
    {
      key: 'every',
      title: say('every'),
      width: 110,
      cell: ({ every_seconds, on }) => (
        <span className={styles.name}>
          {every_seconds > 0 ? interval(every_seconds, say) : say('off')}
          {on === 'each-node' && <small className={shared.note}>{say('eachNode')}</small>}
        </span>
      ),
    },
    { key: 'outcome', title: say('outcome'), cell: (job) => <Outcome job={job} /> },
    { key: 'started', title: say('started'), cell: ({ started_at: at }) => (at > 0 ? <TimeText seconds={at} /> : null) },
    {
      key: 'took',
      title: say('took'),
      align: 'right',
      cell: ({ started_at, finished_at }) =>
        finished_at >= started_at && finished_at > 0 ? say('seconds', { count: finished_at - started_at }) : null,
    },
    { key: 'detail', title: say('detail'), cell: (job) => (job.progress || job.detail ? <Detail job={job} /> : null) },
  ]
}

function Outcome({ job: { outcome, progress } }: { job: SystemJob }) {
  const say = useText(texts)
  return (
    <span className={styles.name}>
      <Tag dot color={colors[outcome]}>
        {say(outcome)}
      </Tag>
      {outcome === 'running' && progress && progress.total > 0 && (
        <Progress
          size="sm"
          aria-label={say('progress', { done: progress.done, total: progress.total })}
          value={(progress.done / progress.total) * 100}
        />
      )}
    </span>
  )
}

/** Job summaries are for operators of the server, in English. */
function Detail({ job: { progress, detail } }: { job: SystemJob }) {
  const say = useText(texts)
  if (!progress) return <code className={styles.code}>{detail}</code>
  const counts = Object.entries(progress.counts).map(([word, count]) => `${word} ${count}`)
  return (
    <span>
      {say('progress', { done: progress.done, total: progress.total })} <code className={styles.code}>{counts.join(', ')}</code>
    </span>
  )
}

function RunButton({ job, onStart }: { job: SystemJob; onStart: () => void }) {
  const say = useText(texts)
  const local = useLocal()
  const run = useWrite('POST /api/job/:name/run', {
    invalidates: ['GET /api/job/'],
    success: say('runStarted'),
    onSuccess: onStart,
  })
  return (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<IconPlayerPlay size={14} />}
      loading={run.isPending}
      disabled={job.outcome === 'running'}
      aria-label={`${say('run')}: ${local(job.label)}`}
      onClick={() => run.mutate({ params: { name: job.name } })}
    >
      {say('run')}
    </Button>
  )
}

function interval(seconds: number, say: Say<'seconds' | 'minutes' | 'hours'>): string {
  if (seconds % 3600 === 0) return say('hours', { count: seconds / 3600 })
  if (seconds % 60 === 0) return say('minutes', { count: seconds / 60 })
  return say('seconds', { count: seconds })
}
