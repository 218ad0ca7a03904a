import { Anchor, Button, Skeleton, Stack } from '@mantine/core'
import { IconArrowLeft, IconPencil, IconPlayerPlay } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { QualityCheck, QualityStanding } from '../../../contract/entities/quality-check.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { DataTable } from '../../ui/list/data-table.tsx'
import type { Column } from '../../ui/list/listing.ts'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { HeadButton } from '../../ui/page/head-button.tsx'
import { PageHeader } from '../../ui/page/page-header.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import { TimeText } from '../../ui/view/time-text.tsx'
import { channelName } from './channel-name.ts'
import { intervalText } from './intervals.ts'
import styles from './quality.module.css'
import { ResultsPanel } from './results-panel.tsx'
import { CheckState, StandingTag, shareText } from './state-tag.tsx'
import { texts } from './texts.ts'
import { refetchOf, useRun } from './use-check-writes.ts'

interface Props {
  readonly id: number
  readonly onEdit: (check: QualityCheck) => void
}

/** One check: the results of its channels, and their answers. */
export function CheckView({ id, onEdit }: Props) {
  const say = useText(texts)
  const {
    data: check,
    error,
    refetch,
  } = useQuery({
    ...read('GET /api/quality_check/:id', { params: { id } }),
    refetchInterval: ({ state: { data } }) => refetchOf(data && [data]),
  })
  const run = useRun(check?.name ?? '')
  const back = (
    <Anchor component={Link} to="/quality" size="sm" className={styles.back ?? ''}>
      <IconArrowLeft size={14} aria-hidden="true" /> {say('back')}
    </Anchor>
  )
  if (!check)
    return (
      <>
        {back}
        {error ? <ErrorView isPage error={error} onRetry={() => void refetch()} /> : <Skeleton height={320} radius="lg" />}
      </>
    )
  return (
    <>
      {back}
      <PageHeader
        title={check.name}
        description={
          <span className={shared.facts}>
            <CheckState check={check} />
            <span className={shared.code}>{check.models.join(', ')}</span>
            <span>{intervalText(check.interval_minutes, say)}</span>
          </span>
        }
        actions={
          <>
            <HeadButton label={say('edit')} icon={IconPencil} onClick={() => onEdit(check)} />
            <Button
              leftSection={<IconPlayerPlay size={16} />}
              loading={run.isPending}
              disabled={check.is_running}
              onClick={() => run.mutate({ params: { id } })}
            >
              {say('run')}
            </Button>
          </>
        }
      />
      <Stack gap="lg">
        <Standings check={check} />
        <ResultsPanel check={check} />
      </Stack>
    </>
  )
}

function Standings({ check: { standings, window_runs: count, threshold, drop } }: { check: QualityCheck }) {
  const say = useText(texts)
  return (
    <Panel
      title={say('byChannel')}
      description={say(drop > 0 ? 'byChannelHint' : 'byChannelHintPlain', { count, threshold, drop })}
    >
      <DataTable
        label={say('byChannel')}
        columns={useStandingColumns()}
        rows={standings}
        rowKey={({ channel_id: channel, model }) => `${channel}/${model}`}
        empty={{ title: say('byChannelEmpty') }}
      />
    </Panel>
  )
}

function useStandingColumns(): Column<QualityStanding>[] {
  const say = useText(texts)
  return [
    {
      key: 'channel',
      title: say('channel'),
      heads: true,
      cell: (row) => channelName(row, say),
    },
    { key: 'model', title: say('model'), cell: ({ model }) => <span className={shared.code}>{model}</span> },
    { key: 'state', title: say('state'), inCard: 'state', cell: ({ state }) => <StandingTag state={state} /> },
    { key: 'share', title: say('share'), inCard: 'figure', align: 'right', cell: ({ share }) => shareText(share) },
    { key: 'baseline', title: say('baseline'), inCard: 'figure', align: 'right', cell: ({ baseline }) => shareText(baseline) },
    { key: 'last', title: say('lastAnswers'), align: 'right', cell: ({ passed, total }) => `${passed} / ${total}` },
    { key: 'time', title: say('time'), cell: ({ run_at: at }) => <TimeText seconds={at} /> },
  ]
}
