import { Box, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { backupHoursMax } from '../../../../contract/entities/alert.ts'
import type { SystemInfo } from '../../../../contract/entities/system.ts'
import { units } from '../../../../contract/units.ts'
import { formatDuration } from '../../../lib/format.ts'
import { useLocal, useText } from '../../../lib/i18n.ts'
import { inLargerUnits } from '../../../lib/measures.ts'
import { read } from '../../../lib/query.ts'
import { DataTable } from '../../../ui/list/data-table.tsx'
import { loadingOf } from '../../../ui/list/list-rows.ts'
import type { Column } from '../../../ui/list/listing.ts'
import { ErrorView } from '../../../ui/page/error-view.tsx'
import { Facts } from '../../../ui/page/facts.tsx'
import { Notice } from '../../../ui/page/notice.tsx'
import { Panel } from '../../../ui/page/panel.tsx'
import { Tag } from '../../../ui/view/tag.tsx'
import { TimeText } from '../../../ui/view/time-text.tsx'
import styles from './runtime.module.css'
import { texts } from './texts.ts'

/** The installation's version and database, and its live nodes. */
export function NodesPanel() {
  const say = useText(texts)
  const system = useQuery({ ...read('GET /api/system/'), refetchInterval: 15_000 })
  const columns = useColumns()

  return (
    <Panel title={say('system')}>
      {system.data ? (
        <>
          <Facts
            facts={[
              { label: say('version'), value: system.data.version },
              { label: say('database'), value: system.data.database === 'sqlite' ? 'SQLite' : 'PostgreSQL' },
              { label: say('redis'), value: say(system.data.redis ? 'redisOn' : 'redisOff') },
              { label: say('runtime'), value: system.data.runtime },
              { label: say('platform'), value: system.data.platform },
              { label: say('started_at'), value: <TimeText seconds={system.data.started_at} /> },
              { label: say('clock'), value: <TimeText seconds={system.data.now} /> },
              { label: say('lastBackup'), value: <LastBackup system={system.data} /> },
            ]}
          />
          {system.data.risky_proxies.length > 0 && (
            <Box mt={20}>
              <Notice kind="warn" title={say('riskyProxies', { entries: system.data.risky_proxies.join(', ') })}>
                {say('riskyProxiesHint')}
              </Notice>
            </Box>
          )}
          <Box mt={20}>
            <DataTable
              label={say('nodes')}
              dense
              columns={columns}
              {...loadingOf(system)}
              rows={system.data.nodes}
              rowKey={({ name }) => name}
              isMuted={({ alive }) => !alive}
            />
          </Box>
        </>
      ) : system.error ? (
        <ErrorView error={system.error} onRetry={() => void system.refetch()} />
      ) : (
        <Skeleton height={120} radius="md" />
      )}
    </Panel>
  )
}

/** What `sluice backup` has made; other backups are not known here. */
function LastBackup({ system: { last_backup: last, now } }: { system: SystemInfo }) {
  const say = useText(texts)
  const local = useLocal()
  if (!last) return say('noBackup')
  const size = inLargerUnits(last.bytes, units.bytes, local)
  return (
    <span className={styles.tags}>
      <TimeText seconds={last.made_at} />
      {`${size} · ${formatDuration(last.duration_ms)}`}
      {now - last.made_at > backupHoursMax * 3600 && <Tag color="orange">{say('oldBackup', { count: backupHoursMax })}</Tag>}
    </span>
  )
}

function useColumns(): Column<SystemInfo['nodes'][number]>[] {
  const say = useText(texts)
  return [
    { key: 'node', title: say('node'), heads: true, cell: ({ name }) => <code className={styles.code}>{name}</code> },
    {
      key: 'state',
      title: say('state'),
      cell: ({ alive, here }) => (
        <span className={styles.tags}>
          <Tag dot color={alive ? 'green' : 'gray'}>
            {say(alive ? 'alive' : 'gone')}
          </Tag>
          {here && <Tag color="sluice">{say('here')}</Tag>}
        </span>
      ),
    },
    { key: 'version', title: say('version'), cell: ({ version }) => version },
    { key: 'memory', title: say('memory'), align: 'right', cell: ({ memory_mb: count }) => say('megabytes', { count }) },
    { key: 'started', title: say('started_at'), cell: ({ started_at }) => <TimeText seconds={started_at} /> },
    { key: 'seen', title: say('seen'), cell: ({ seen_at }) => <TimeText seconds={seen_at} /> },
  ]
}
