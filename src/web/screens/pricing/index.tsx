import { Button } from '@mantine/core'
import { IconCalculator, IconCopy, IconDownload, IconTag } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { csvText } from '../../../contract/csv.ts'
import type { PriceRow } from '../../../contract/routes/pricing.ts'
import { ApiError, callWhole } from '../../lib/call.ts'
import { saveFile } from '../../lib/download.ts'
import { useText } from '../../lib/i18n.ts'
import { usePageSize } from '../../lib/page-size.ts'
import { pricesOf } from '../../lib/prices.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { DataTable } from '../../ui/list/data-table.tsx'
import { type Filter, ListFilters } from '../../ui/list/list-filters.tsx'
import { loadingOf } from '../../ui/list/list-rows.ts'
import { pageOf, type RowKey } from '../../ui/list/listing.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { Empty, type EmptyProps } from '../../ui/page/empty.tsx'
import { HeadButton } from '../../ui/page/head-button.tsx'
import { PageHeader } from '../../ui/page/page-header.tsx'
import { copyText } from '../../ui/view/copy-text.tsx'
import { usePriceColumns } from './columns.tsx'
import { texts } from './texts.ts'
import { billingOf, wantedRows } from './wanted-rows.ts'

const WorkedExample = lazy(async () => ({ default: (await import('./example.tsx')).WorkedExample }))

export function Screen() {
  const answer = usePriceList(useSession()?.id)
  return answer.error instanceof ApiError && answer.error.code === 'prices_for_members' ? (
    <MembersOnly />
  ) : (
    <PriceList answer={answer} />
  )
}

function PriceList({ answer }: { answer: ReturnType<typeof usePriceList> }) {
  const say = useText(texts)
  const user = useSession()
  const { quota_per_unit: perUsd } = useStatus()
  const pageSize = usePageSize()
  const [selected, setSelected] = useState<ReadonlySet<RowKey>>(new Set())
  const [picked, setPicked] = useState('')
  const state = useUrlState({ search: '', type: '', available: '', group: '', sort: '', down: false, page: 1 })
  const { values, change } = state

  const ratios = answer.data?.group_ratio ?? {}
  const names = Object.keys(ratios)
  const own = user?.group ?? 'default'
  const group = names.includes(values.group) ? values.group : names.includes(own) ? own : (names[0] ?? own)
  const ratio = ratios[group] ?? 1
  const rows = wantedRows(answer.data?.data ?? [], { ...values, group })
  const example = answer.data?.data.find(({ model_name }) => model_name === picked)
  const columns = usePriceColumns({ group, ratio, perUsd, onGroup: (next) => change({ group: next }) })

  return (
    <>
      <PageHeader
        title={say('title')}
        description={say('hint', {
          group: user ? say('groupHint', { group: own, ratio: ratios[own] ?? 1 }) : say('visitor'),
          prices: say('perMillion'),
        })}
        actions={
          <HeadButton
            label={say('export')}
            icon={IconDownload}
            disabled={rows.length === 0}
            onClick={() => saveFile('prices.csv', csvOf(rows, { ratio, perUsd, group }))}
          />
        }
      />
      <DataTable
        name="pricing"
        label={say('title')}
        columns={columns}
        {...loadingOf(answer)}
        {...pageOf(answer.data && rows, values.page, pageSize)}
        rowKey={(row) => row.model_name}
        onPage={(next) => change({ page: next })}
        sort={{ key: values.sort, descending: values.down }}
        onSort={({ key, descending }) => change({ sort: key, down: descending })}
        selected={selected}
        onSelect={setSelected}
        isMuted={(row) => !row.enable_groups.includes(group)}
        bulkActions={<CopyModels models={[...selected].map(String)} />}
        rowActions={({ model_name }) => (
          <RowActions
            name={model_name}
            actions={[
              { label: say('example'), icon: <IconCalculator size={16} />, primary: true, onClick: () => setPicked(model_name) },
            ]}
          />
        )}
        toolbar={
          <Filters
            state={{ ...state, values: { ...values, group } }}
            groups={names.map((name) => ({ value: name, label: say('groupOf', { name, ratio: ratios[name] ?? 1 }) }))}
          />
        }
        empty={useEmpty(state)}
      />
      <Suspense>
        {example && <WorkedExample row={example} ratio={ratio} perUsd={perUsd} onClose={() => setPicked('')} />}
      </Suspense>
    </>
  )
}

function CopyModels({ models }: { models: readonly string[] }) {
  const say = useText(texts)
  return (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<IconCopy size={14} />}
      onClick={() => void copyText(models.join(','), say('copied', { count: models.length }))}
    >
      {say('copySelected')}
    </Button>
  )
}

function useEmpty({ filtered, reset }: { filtered: boolean; reset: () => void }): EmptyProps {
  const say = useText(texts)
  if (!filtered) return { icon: <IconTag />, title: say('empty'), hint: say('emptyHint') }
  return {
    title: say('nothing'),
    hint: say('nothingHint'),
    action: (
      <Button variant="default" onClick={reset}>
        {say('clear')}
      </Button>
    ),
  }
}

function usePriceList(userId: number | undefined) {
  return useQuery({
    queryKey: ['GET /api/pricing', { userId }],
    queryFn: async ({ signal }) => callWhole('GET /api/pricing', { signal }),
    retry: false,
    staleTime: 60_000,
  })
}

interface FiltersProps {
  readonly state: { values: Values; change: (patch: Partial<Values>) => void; reset: () => void; filtered: boolean }
  readonly groups: readonly { readonly value: string; readonly label: string }[]
}

function Filters({ state, groups }: FiltersProps) {
  const say = useText(texts)
  const filters: Filter[] = [
    { kind: 'search', name: 'search', label: say('search') },
    { kind: 'select', name: 'group', label: say('group'), choices: groups, width: 190, required: true },
    {
      kind: 'select',
      name: 'type',
      label: say('type'),
      choices: [
        { value: 'tokens', label: say('byTokens') },
        { value: 'call', label: say('byCall') },
        { value: 'clip', label: say('byClip') },
      ],
    },
    {
      kind: 'select',
      name: 'available',
      label: say('available'),
      choices: [
        { value: 'yes', label: say('onlyAvailable') },
        { value: 'no', label: say('notAvailable') },
      ],
    },
  ]
  return (
    <ListFilters
      filters={filters}
      values={state.values}
      onChange={state.change}
      onReset={state.reset}
      filtered={state.filtered}
    />
  )
}

type Values = { search: string; type: string; available: string; group: string; sort: string; down: boolean; page: number }

function MembersOnly() {
  const say = useText(texts)
  return (
    <>
      <PageHeader title={say('title')} />
      <Empty
        icon={<IconTag />}
        title={say('membersOnly')}
        hint={say('membersOnlyHint')}
        action={
          <Button component={Link} to="/login">
            {say('login')}
          </Button>
        }
      />
    </>
  )
}

function csvOf(rows: readonly PriceRow[], { ratio, perUsd, group }: { ratio: number; perUsd: number; group: string }): string {
  const head = [
    'model',
    'group',
    'billing',
    'usd_per_call',
    'input_usd_per_1m',
    'output_usd_per_1m',
    'cache_read_usd_per_1m',
    'usd_of_clips',
    'available',
  ]
  const lines = rows.map((row) => {
    const price = pricesOf(row, ratio, perUsd)
    const tidy = (value: number | undefined) => (value === undefined ? '' : Number(value.toPrecision(6)))
    const available = row.enable_groups.includes(group) ? 'yes' : 'no'
    const clips = (row.clips?.rates ?? [])
      .map(({ resolution, sound, usd }) => `${resolution} ${sound} ${tidy(usd * ratio)}/${row.clips?.per}`.trim())
      .join('; ')
    return price.isPerCall
      ? [row.model_name, group, billingOf(row), tidy(price.call), '', '', '', clips, available]
      : [row.model_name, group, 'tokens', '', tidy(price.input), tidy(price.output), tidy(price.cacheRead), '', available]
  })
  return csvText([head, ...lines])
}
