import { ActionIcon, Group, Progress } from '@mantine/core'
import { IconX } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { ChannelJob } from '../../../../contract/entities/channel.ts'
import { useText } from '../../../lib/i18n.ts'
import { invalidate } from '../../../lib/query.ts'
import { Tag } from '../../../ui/view/tag.tsx'
import { texts } from './texts.ts'
import styles from './upkeep.module.css'
import type { Jobs } from './use-jobs.ts'

/** The progress and results of the jobs over all channels. */
export function JobStrip({ jobs: { watched, dismiss } }: { jobs: Jobs }) {
  const say = useText(texts)
  useReload(watched)
  const isOver = watched.every(({ outcome }) => outcome !== 'running')
  return (
    <section className={styles.strip} aria-label={say('jobs')}>
      <div className={styles.jobs}>
        {watched.map((job) => (
          <JobLine key={job.name} job={job} />
        ))}
      </div>
      {isOver && (
        <ActionIcon aria-label={say('dismiss')} onClick={dismiss}>
          <IconX size={16} />
        </ActionIcon>
      )}
    </section>
  )
}

const titles: Readonly<Record<string, 'jobTest' | 'jobBalance' | 'jobModels'>> = {
  'test-channels': 'jobTest',
  'refresh-balances': 'jobBalance',
  'check-models': 'jobModels',
}

const outcomes = {
  passed: 'green',
  read: 'green',
  same: 'green',
  changed: 'sluice',
  slow: 'yellow',
  failed: 'red',
  broken: 'red',
  cannot: 'gray',
} as const

function JobLine({ job: { name, outcome, done, total, counts, detail } }: { job: ChannelJob }) {
  const say = useText(texts)
  const title = titles[name]
  const known = Object.entries(outcomes).filter(([word]) => (counts[word] ?? 0) > 0)
  return (
    <div className={styles.job} role="status">
      <span className={styles.jobTitle}>
        {say(outcome === 'running' ? 'progress' : `ended_${outcome}`, { job: title ? say(title) : name, done, total })}
      </span>
      <Group gap={4} align="stretch">
        {known.map(([word, color]) => (
          <Tag key={word} color={color}>
            {/* Each word of the table has its text. */}
            {say(`count_${word as keyof typeof outcomes}`, { count: counts[word] ?? 0 })}
          </Tag>
        ))}
        {detail}
      </Group>
      {outcome === 'running' && (
        <Progress
          className={styles.bar ?? ''}
          size="sm"
          value={total === 0 ? 0 : (done / total) * 100}
          aria-label={title && say(title)}
        />
      )}
    </div>
  )
}

/** The list is loaded once for each job that ended. */
function useReload(watched: readonly ChannelJob[]): void {
  const client = useQueryClient()
  const loaded = useRef<ReadonlySet<string>>(new Set())
  const ended = watched.filter(({ outcome }) => outcome !== 'running').map(({ name, started_at }) => `${name} ${started_at}`)
  const key = ended.join()
  // Outside of React: the server's changes in the meantime.
  useEffect(() => {
    const fresh = key.split(',').filter((run) => run !== '' && !loaded.current.has(run))
    if (fresh.length === 0) return
    loaded.current = new Set([...loaded.current, ...fresh])
    void invalidate(client, ['GET /api/channel/search', 'GET /api/channel/model_changes'])
  }, [client, key])
}
