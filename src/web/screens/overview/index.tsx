import { Button, SegmentedControl, Skeleton, Stack } from '@mantine/core'
import { IconActivityHeartbeat } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type Consumer, type Overview, overviewPeriods } from '../../../contract/entities/call-statistics.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { Empty } from '../../ui/page/empty.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { PageHeader } from '../../ui/page/page-header.tsx'
import { CallsPanel } from './calls-panel.tsx'
import { Figures } from './figures.tsx'
import { FiringStrip } from './firing-strip.tsx'
import styles from './overview.module.css'
import { ErrorsPanel, FailingPanel, RunningPanel, TopPanel } from './panels.tsx'
import { texts } from './texts.ts'

const everyMs = 15_000

/** Whether the site is healthy, at a glance. */
export function Screen() {
  const say = useText(texts)
  const { values, change } = useUrlState({ period: 'day' })
  const period = overviewPeriods.find((one) => one === values.period) ?? 'day'
  const overview = useQuery({
    ...read('GET /api/overview/', { query: { period } }),
    refetchInterval: everyMs,
    placeholderData: (before) => before,
  })
  return (
    <>
      <PageHeader
        title={say('title')}
        description={say('description')}
        actions={
          <SegmentedControl
            aria-label={say('period')}
            data={overviewPeriods.map((value) => ({ value, label: say(value) }))}
            value={period}
            onChange={(next) => change({ period: next })}
          />
        }
      />
      <FiringStrip />
      {overview.data ? (
        <Content overview={overview.data} onMonth={() => change({ period: 'month' })} />
      ) : overview.error ? (
        <ErrorView error={overview.error} onRetry={() => void overview.refetch()} />
      ) : (
        <Skeleton height={480} radius="md" />
      )}
    </>
  )
}

function Content({ overview, onMonth }: { overview: Overview; onMonth: () => void }) {
  const say = useText(texts)
  const { from, users, models, tokens, current, failing } = overview
  if (current.requests === 0 && failing.length === 0)
    return (
      <Stack>
        <Empty
          icon={<IconActivityHeartbeat />}
          title={say('emptyTitle')}
          hint={say('emptyHint')}
          action={
            <Button variant="default" onClick={onMonth}>
              {say('showMonth')}
            </Button>
          }
        />
        <RunningPanel />
      </Stack>
    )
  const of = (name: string) => (consumer: Consumer) => ({
    [name]: consumer.name,
    ...(consumer.owner !== '' && { username: consumer.owner }),
  })
  return (
    <Stack>
      <Figures overview={overview} />
      <CallsPanel overview={overview} />
      <div className={styles.halves}>
        <FailingPanel overview={overview} />
        <ErrorsPanel overview={overview} />
      </div>
      <div className={styles.thirds}>
        <TopPanel title={say('users')} consumers={users} searchOf={of('username')} from={from} />
        <TopPanel title={say('models')} consumers={models} searchOf={of('model_name')} from={from} />
        <TopPanel title={say('tokens')} consumers={tokens} searchOf={of('token_name')} from={from} />
      </div>
      <RunningPanel />
    </Stack>
  )
}
