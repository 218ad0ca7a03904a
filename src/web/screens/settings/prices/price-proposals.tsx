import { Button } from '@mantine/core'
import { IconScale } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { read, useWrite } from '../../../lib/query.ts'
import { confirm } from '../../../ui/dialog/confirm.tsx'
import { DataTable } from '../../../ui/list/data-table.tsx'
import { useFilteredEmpty } from '../../../ui/list/filtered-empty.tsx'
import { loadingOf, usePages } from '../../../ui/list/list-rows.ts'
import type { RowKey } from '../../../ui/list/listing.ts'
import { Notice } from '../../../ui/page/notice.tsx'
import { Panel } from '../../../ui/page/panel.tsx'
import shared from '../../../ui/shared.module.css'
import { texts as settingsTexts } from '../texts.ts'
import { usePriceColumns } from './price-columns.tsx'
import { type View, type Wanted, wantedRows } from './price-rows.ts'
import { PriceTools } from './price-tools.tsx'
import { texts } from './texts.ts'

const views = ['all', 'up', 'down', 'unpriced'] as const satisfies readonly View[]
const everything: Wanted = { search: '', view: 'all', byChange: false }

/** Public prices that differ from the charged ones; an admin accepts some. `hasDrafts`: there are unsaved ratios. */
export function PriceProposals({ hasDrafts }: { hasDrafts: boolean }) {
  const say = useText(texts)
  const title = useText(settingsTexts)('publicPrices')
  const [asked, setAsked] = useState(false)
  const [wanted, setWanted] = useState(everything)
  const [selected, setSelected] = useState<ReadonlySet<RowKey>>(new Set())
  const proposals = useQuery({ ...read('GET /api/pricing/proposals'), enabled: asked, staleTime: 60_000 })
  const rows = wantedRows(proposals.data ?? [], wanted)
  const columns = usePriceColumns(proposals.data ?? [])
  const pages = usePages(proposals.data && rows)

  function want(patch: Partial<Wanted>): void {
    setWanted({ ...wanted, ...patch })
    pages.onPage(1)
  }
  const nothingMatches = useFilteredEmpty(() => want(everything))

  return (
    <Panel
      title={title}
      description={say('description')}
      aside={
        !asked && (
          <Button variant="default" leftSection={<IconScale size={16} />} onClick={() => setAsked(true)}>
            {say('compare')}
          </Button>
        )
      }
    >
      {asked ? (
        <DataTable
          label={title}
          dense
          columns={columns}
          {...loadingOf(proposals)}
          {...pages}
          rowKey={({ model }) => model}
          sort={{ key: wanted.byChange ? 'change' : 'model', descending: wanted.byChange }}
          onSort={({ key }) => want({ byChange: key === 'change' })}
          selected={selected}
          onSelect={setSelected}
          bulkActions={<Accept models={[...selected].map(String)} hasDrafts={hasDrafts} onDone={() => setSelected(new Set())} />}
          empty={proposals.data?.length ? nothingMatches : { title: say('empty'), hint: say('emptyHint') }}
          toolbar={
            <PriceTools
              search={wanted.search}
              onSearch={(search) => want({ search })}
              view={wanted.view}
              views={views}
              onView={(view) => want({ view })}
              count={rows.length}
              onSelectAll={() => setSelected(new Set([...selected, ...rows.map(({ model }) => model)]))}
              say={say}
            />
          }
        />
      ) : (
        <p className={shared.hint}>{say('hint')}</p>
      )}
    </Panel>
  )
}

/** Charges the proposed prices of the selected models from now on. */
function Accept({ models, hasDrafts, onDone }: { models: readonly string[]; hasDrafts: boolean; onDone: () => void }) {
  const say = useText(texts)
  const accept = useWrite('POST /api/pricing/proposals', {
    invalidates: ['GET /api/pricing/proposals', 'GET /api/pricing/models', 'GET /api/option/'],
    success: ({ accepted }) => say('accepted', { count: accepted }),
    onSuccess: onDone,
  })

  async function ask(): Promise<void> {
    const title = say('acceptTitle', { count: models.length })
    if (await confirm({ title, body: say('acceptBody'), confirmLabel: say('accept') }))
      accept.mutate({ body: { models: [...models] } })
  }

  if (hasDrafts) return <Notice kind="warn">{say('drafts')}</Notice>
  return (
    <Button size="compact-sm" loading={accept.isPending} onClick={() => void ask()}>
      {say('accept')}
    </Button>
  )
}
