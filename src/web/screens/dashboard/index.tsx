import { ActionIcon, Button, SegmentedControl, Skeleton, Stack, Tooltip } from '@mantine/core'
import { IconChartBar, IconDownload, IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { csvText } from '../../../contract/csv.ts'
import { type Grain, grains, type SumsBy, sumsBy, type UsageSums } from '../../../contract/entities/usage-sum.ts'
import { exactUsd, formatNumber, tidy, usdFigure } from '../../../contract/quota.ts'
import { saveFile } from '../../lib/download.ts'
import { formatCount, useQuotaFormat } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { useMay } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { formatTime, nowSeconds, startOfDay, timeZoneName } from '../../lib/times.ts'
import { TimeBars } from '../../ui/chart/time-bars.tsx'
import { type Filter, ListFilters } from '../../ui/list/list-filters.tsx'
import { Disclosure } from '../../ui/page/disclosure.tsx'
import { Empty } from '../../ui/page/empty.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { PageHeader } from '../../ui/page/page-header.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { useQuotaHint } from '../../ui/view/quota-text.tsx'
import { Cards } from './cards.tsx'
import styles from './dashboard.module.css'
import {
  figureOf,
  grainFor,
  type Metric,
  metrics,
  othersKey,
  refundsKey,
  seriesOf,
  sharesOf,
  stepsOf,
  sumsOfSteps,
} from './series.ts'
import { ShareRing } from './share-ring.tsx'
import { SharesTable, StepsTable } from './tables.tsx'
import { texts } from './texts.ts'

export function Screen() {
  const say = useText(texts)
  const { values, change, reset, filtered, asked, isAdmin, to } = useAsked()
  const query = { ...asked, ...(isAdmin ? { username: values.username } : {}) }
  const line = isAdmin ? 'GET /api/data/sums' : 'GET /api/data/self/sums'
  const sums = useQuery({ ...read(line, { query }), placeholderData: (before) => before })
  const length = asked.end_timestamp - asked.start_timestamp
  const earlier = { start_timestamp: asked.start_timestamp - length, end_timestamp: asked.start_timestamp - 1 }
  const before = useQuery(read(line, { query: { ...query, ...earlier } }))
  const inputs: Filter[] = [
    { kind: 'time', from: 'from', to: 'to', label: say('timeRange') },
    {
      kind: 'select',
      name: 'grain',
      label: say('grain'),
      choices: grains.map((value) => ({ value, label: say(value) })),
      width: 110,
      required: true,
    },
    ...(isAdmin ? [{ kind: 'text' as const, name: 'username', label: say('username'), width: 140 }] : []),
  ]
  const title = !isAdmin ? say('mine') : values.username ? say('ofUser', { name: values.username }) : say('everybody')

  return (
    <>
      <PageHeader
        title={say('title')}
        actions={
          <>
            <Tooltip label={say('refresh')}>
              <ActionIcon variant="default" size={36} aria-label={say('refresh')} onClick={() => void sums.refetch()}>
                <IconRefresh size={17} stroke={1.6} />
              </ActionIcon>
            </Tooltip>
            <ExportButton sums={sums.data} />
          </>
        }
      />
      <div className={styles.filters}>
        <ListFilters
          filters={inputs}
          values={{ ...values, grain: asked.grain }}
          onChange={change}
          onReset={reset}
          filtered={filtered}
        />
      </div>
      <Cards title={title} total={sums.data?.total} seconds={Math.max(60, to - asked.start_timestamp)} />
      {sums.data ? (
        <Charts sums={sums.data} before={before.data} view={{ ...values, ...asked, isAdmin, to }} change={change} />
      ) : sums.error ? (
        <ErrorView error={sums.error} onRetry={() => void sums.refetch()} />
      ) : (
        <Skeleton height={480} radius="md" />
      )}
    </>
  )
}

/** The filters of the address, and the query. Without filters it is the last three days. */
function useAsked() {
  const { data_export_default_time } = useStatus()
  const isAdmin = useMay('admin')
  const state = useUrlState({
    from: startOfDay(2),
    to: 0,
    grain: String(data_export_default_time),
    by: 'model',
    metric: 'quota',
    username: '',
  })
  const { values } = state
  // Rounded, so that the query stays the same when the screen is rendered again.
  const to = values.to || Math.ceil(nowSeconds() / 300) * 300
  const from = Math.max(values.from, to - 366 * 86_400)
  const grain = grainFor(grains.find((each) => each === values.grain) ?? 'hour', to - from)
  const by: SumsBy = sumsBy.find((side) => side === values.by && (isAdmin || side === 'model' || side === 'group')) ?? 'model'
  const asked = {
    start_timestamp: from,
    end_timestamp: to,
    grain,
    offset_minutes: -new Date().getTimezoneOffset(),
  }
  return { ...state, isAdmin, to, asked: { ...asked, by: by as 'model' | 'group' } }
}

interface View {
  readonly metric: string
  readonly by: SumsBy
  readonly grain: Grain
  readonly start_timestamp: number
  readonly to: number
  readonly isAdmin: boolean
}

interface ChartsProps {
  readonly sums: UsageSums
  /** The period of the same length before; `undefined` while it loads. */
  readonly before: UsageSums | undefined
  readonly view: View
  readonly change: ReturnType<typeof useAsked>['change']
}

function Charts({ sums, before, view, change }: ChartsProps) {
  const say = useText(texts)
  const formatQuota = useQuotaFormat()
  const quotaHint = useQuotaHint()
  const nameOf = useNames(sums, view.by)
  const metric: Metric = metrics.find((name) => name === view.metric) ?? 'quota'
  const format = (value: number) => (metric === 'quota' ? formatQuota(value) : formatNumber(value))
  const hint = (value: number) => (metric === 'quota' ? quotaHint(value) : formatCount(value))
  const ticks = useTicks(metric)
  const { grain, start_timestamp: from, to } = view
  const series = useMemo(() => seriesOf(sums, metric), [sums, metric])
  const steps = useMemo(() => stepsOf(sums, { metric, grain, from, to }), [sums, metric, grain, from, to])
  const line = useMemo(
    () => before && sumsOfSteps(before, { metric, grain, from, to, steps }),
    [before, metric, grain, from, to, steps],
  )
  const labels = { model: say('byModel'), user: say('byUser'), channel: say('byChannel'), group: say('byGroup') }
  const sides = sumsBy.filter((side) => view.isAdmin || side === 'model' || side === 'group')
  const total = say('total', { value: format(figureOf(sums.total, metric)) })

  return (
    <Stack>
      <div className={styles.filters} style={{ marginBottom: 0 }}>
        <SegmentedControl
          aria-label={say('by')}
          data={sides.map((value) => ({ value, label: labels[value] }))}
          value={view.by}
          onChange={(by) => change({ by })}
        />
        <SegmentedControl
          aria-label={say('metric')}
          data={metrics.map((value) => ({ value, label: say(value) }))}
          value={metric}
          onChange={(next) => change({ metric: next })}
        />
      </div>
      {sums.keys.length === 0 ? (
        <Empty
          icon={<IconChartBar />}
          title={say('empty')}
          hint={say('emptyHint')}
          action={
            <Button variant="default" onClick={() => change({ from: startOfDay(29), to: 0, grain: 'day' })}>
              {say('showMonth')}
            </Button>
          }
        />
      ) : (
        <>
          <Panel title={say('distribution')} description={`${total} · ${say('distributionHint', { zone: timeZoneName() })}`}>
            <div className={styles.bars}>
              <TimeBars
                height={340}
                label={`${say('distribution')}, ${total}`}
                series={series}
                steps={steps}
                before={line}
                beforeLabel={say('before')}
                nameOf={nameOf}
                format={format}
                {...ticks}
              />
            </div>
            <Disclosure title={say('asTable')}>
              <StepsTable series={series} steps={steps} nameOf={nameOf} format={format} hint={hint} />
            </Disclosure>
          </Panel>
          <Panel title={say('share')} description={total}>
            <div className={styles.shares}>
              <ShareRing
                label={`${say('share')}, ${total}`}
                series={series.filter(({ key }) => key !== refundsKey)}
                values={sharesOf(sums, metric)}
                nameOf={nameOf}
                format={format}
              />
              <SharesTable sums={sums} series={series} metric={metric} nameOf={nameOf} />
            </div>
          </Panel>
        </>
      )}
    </Stack>
  )
}

/** The axis counts dollars where quota is displayed in dollars. */
function useTicks(metric: Metric) {
  const { display_in_currency: inCurrency, quota_per_unit: perUsd } = useStatus()
  const scale = metric === 'quota' && inCurrency ? perUsd : 1
  const formatTick = useCallback((value: number) => (scale === 1 ? formatNumber(value) : exactUsd(tidy(value / scale))), [scale])
  return { scale, formatTick }
}

/** Names for people; deleted ones are shown by id. */
function useNames(sums: UsageSums, by: SumsBy): (key: string) => string {
  const say = useText(texts)
  const names = new Map(sums.keys.map(({ key, name }) => [key, name]))
  return (key) => {
    if (key === othersKey) return say('others')
    if (key === refundsKey) return say('refunds')
    const name = names.get(key) ?? ''
    if (name !== '') return by === 'channel' ? `${key} · ${name}` : name
    return by === 'user' || by === 'channel' ? (key === '0' ? say('noName') : say('gone', { id: key })) : key || say('noName')
  }
}

function ExportButton({ sums }: { sums: UsageSums | undefined }) {
  const say = useText(texts)
  const { quota_per_unit: perUsd } = useStatus()
  const save = ({ points, keys }: UsageSums) => {
    const names = new Map(keys.map(({ key, name }) => [key, name]))
    const lines = points.map(({ at, key, quota, count, token_used }) => {
      return [formatTime(at), names.get(key) || key, quota, usdFigure(quota, perUsd), count, token_used]
    })
    const head = [`time (${timeZoneName()})`, 'name', 'quota', 'usd', 'calls', 'tokens']
    saveFile(`usage-${formatTime(nowSeconds()).replace(/\D+/g, '-')}.csv`, csvText([head, ...lines]))
  }
  return (
    <Tooltip label={say('export')}>
      <ActionIcon
        variant="default"
        size={36}
        aria-label={say('export')}
        disabled={!sums || sums.points.length === 0}
        onClick={() => sums && save(sums)}
      >
        <IconDownload size={17} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  )
}
