import { Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { NewerPriceData, PriceChange } from '../../../../contract/routes/pricing.ts'
import { useText } from '../../../lib/i18n.ts'
import { read, useWrite } from '../../../lib/query.ts'
import { confirm } from '../../../ui/dialog/confirm.tsx'
import { DataTable } from '../../../ui/list/data-table.tsx'
import { useFilteredEmpty } from '../../../ui/list/filtered-empty.tsx'
import { loadingOf, usePages } from '../../../ui/list/list-rows.ts'
import type { RowKey } from '../../../ui/list/listing.ts'
import { Notice } from '../../../ui/page/notice.tsx'
import { type ChangeView, changeKey, changeViews, modelsOf, viewedChanges } from './newer-rows.ts'
import { newerTexts } from './newer-texts.ts'
import { PriceTools } from './price-tools.tsx'
import styles from './prices.module.css'
import { useChangeColumns } from './use-change-columns.tsx'

/** The price columns that can have a public price. */
export const shownPrices = [
  'GET /api/pricing/data',
  'GET /api/pricing/models',
  'GET /api/pricing/proposals',
  'GET /api/pricing',
] as const

const everything = { search: '', view: 'all' } as const satisfies { search: string; view: ChangeView }

/** The changes of newer price data: to apply all of them or some, or to dismiss them. */
export function NewerChanges({ newer: { hash, left_out: leftOut, changes } }: { newer: NewerPriceData }) {
  const say = useText(newerTexts)
  const [wanted, setWanted] = useState<{ search: string; view: ChangeView }>(everything)
  const [selected, setSelected] = useState<ReadonlySet<RowKey>>(new Set())
  const prices = useQuery(read('GET /api/pricing/data'))
  const columns = useChangeColumns(changes)
  const dismiss = useWrite('POST /api/pricing/data/dismiss', { invalidates: shownPrices, success: () => say('wasDismissed') })
  const rows = viewedChanges(changes, wanted)
  const suspect = changes.filter(({ warning }) => warning !== null).length
  const pages = usePages(rows)

  function want(patch: Partial<typeof wanted>): void {
    setWanted({ ...wanted, ...patch })
    pages.onPage(1)
  }
  const nothingMatches = useFilteredEmpty(() => want(everything))

  return (
    <div className={styles.changes}>
      {suspect > 0 && <Notice kind="warn">{say('suspectCount', { count: suspect })}</Notice>}
      {leftOut > 0 && <Notice>{say('leftOut', { count: leftOut })}</Notice>}
      <DataTable
        label={say('changes')}
        dense
        columns={columns}
        {...loadingOf(prices)}
        {...pages}
        rowKey={changeKey}
        selected={selected}
        onSelect={setSelected}
        bulkActions={
          <Apply
            hash={hash}
            changes={changes.filter((change) => selected.has(changeKey(change)))}
            onDone={() => setSelected(new Set())}
          />
        }
        empty={nothingMatches}
        toolbar={
          <PriceTools
            search={wanted.search}
            onSearch={(search) => want({ search })}
            view={wanted.view}
            views={changeViews}
            onView={(view) => want({ view })}
            count={rows.length}
            onSelectAll={() => setSelected(new Set([...selected, ...rows.map(changeKey)]))}
            say={say}
          />
        }
      />
      <Group gap="sm" justify="flex-end">
        <Button variant="default" loading={dismiss.isPending} onClick={() => dismiss.mutate({ body: { hash } })}>
          {say('dismiss')}
        </Button>
        <Apply hash={hash} changes={changes} isWhole />
      </Group>
    </div>
  )
}

interface ApplyProps {
  readonly hash: string
  readonly changes: readonly PriceChange[]
  /** Applies all of the newer data, and not only the prices of single models. */
  readonly isWhole?: boolean
  readonly onDone?: () => void
}

/** Charges by these newer prices from now on. */
function Apply({ hash, changes, isWhole = false, onDone = () => {} }: ApplyProps) {
  const say = useText(newerTexts)
  const apply = useWrite('POST /api/pricing/data/apply', {
    invalidates: shownPrices,
    success: () => say('applied'),
    onSuccess: onDone,
  })
  const models = modelsOf(changes)
  const suspect = changes.filter(({ warning }) => warning !== null).length

  async function ask(): Promise<void> {
    const title = isWhole ? say('applyAllTitle', { count: changes.length }) : say('applyTitle', { count: models.length })
    const body = [...(suspect > 0 ? [say('suspectCount', { count: suspect })] : []), say('applyBody')].join(' ')
    const confirmLabel = say(isWhole ? 'applyAll' : 'apply')
    if (await confirm({ title, body, confirmLabel })) apply.mutate({ body: isWhole ? { hash } : { hash, models } })
  }

  return isWhole ? (
    <Button loading={apply.isPending} onClick={() => void ask()}>
      {say('applyAll')}
    </Button>
  ) : (
    <Button size="compact-sm" loading={apply.isPending} onClick={() => void ask()}>
      {say('apply')}
    </Button>
  )
}
