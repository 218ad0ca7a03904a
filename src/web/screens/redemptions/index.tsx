import { Button, Tooltip } from '@mantine/core'
import { IconDownload, IconEraser, IconPlus, IconTicket } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { type Redemption, redemptionStatus } from '../../../contract/entities/redemption.ts'
import { saveAnswer } from '../../lib/download.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { toast } from '../../lib/toast.ts'
import { confirm } from '../../ui/confirm.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { DrawerFormWaiting } from '../../ui/drawer-form.tsx'
import type { EmptyProps } from '../../ui/empty.tsx'
import { useFilteredEmpty } from '../../ui/filtered-empty.tsx'
import { ListFilters } from '../../ui/list-filters.tsx'
import { type RowKey, rowsOf } from '../../ui/listing.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { SideDrawer } from '../../ui/side-drawer.tsx'
import { Actions } from './actions.tsx'
import { BulkActions } from './bulk-actions.tsx'
import { isExpired, useColumns } from './columns.tsx'
import { redemptionLists } from './redemption-lines.ts'
import { texts } from './texts.ts'
import { useFilters, useRedemptionList } from './use-redemption-list.ts'

const RedemptionForm = lazy(async () => ({ default: (await import('./form.tsx')).RedemptionForm }))

/** What the form at the side is about: new codes or the one with this id. */
interface DrawerSubject {
  readonly id: number | undefined
}

export function Screen() {
  const say = useText(texts)
  const { list, page, onPage, filters, asked, sort, onSort } = useRedemptionList()
  const [drawer, setDrawer] = useState<DrawerSubject>()
  const { selected, select, deselect } = useSelection(rowsOf(list.data))
  const columns = useColumns()
  const add = () => setDrawer({ id: undefined })
  const close = () => setDrawer(undefined)

  return (
    <>
      <PageHeader title={say('title')} description={say('description')} actions={<PageActions asked={asked} onAdd={add} />} />
      <DataTable
        label={say('title')}
        name="redemptions"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        page={page}
        onPage={onPage}
        sort={sort}
        onSort={onSort}
        selected={new Set(selected.keys())}
        onSelect={select}
        bulkActions={<BulkActions codes={[...selected.values()]} onDone={deselect} />}
        rowActions={(code) => (
          <Actions
            code={code}
            onEdit={() => setDrawer({ id: code.id })}
            onDeleted={() => select(new Set([...selected.keys()].filter((id) => id !== code.id)))}
          />
        )}
        isMuted={(code) => code.status !== redemptionStatus.unused || isExpired(code)}
        empty={useEmpty({ filtered: filters.filtered || page > 1, onAdd: add, onReset: filters.onReset })}
        toolbar={<ListFilters filters={useFilters()} {...filters} />}
      />
      <SideDrawer subject={drawer} title={({ id }) => say(id === undefined ? 'addTitle' : 'editTitle')} onClose={close}>
        {({ id }) => (
          <Suspense fallback={<DrawerFormWaiting />}>
            <RedemptionForm id={id} onDone={close} />
          </Suspense>
        )}
      </SideDrawer>
    </>
  )
}

function PageActions({ asked, onAdd }: { asked: { keyword: string; status: number }; onAdd: () => void }) {
  const say = useText(texts)
  const download = useMutation({
    mutationFn: () => saveAnswer('GET /api/redemption/export.csv', 'redemption-codes.csv', asked),
    onError: toast.failure,
  })
  const cleanUp = useWrite('DELETE /api/redemption/invalid', {
    invalidates: redemptionLists,
    success: (count) => say('cleanedUp', { count }),
  })

  async function askCleanUp(): Promise<void> {
    const question = { title: say('cleanUpTitle'), body: say('cleanUpBody'), confirmLabel: say('cleanUp'), danger: true }
    if (await confirm(question)) cleanUp.mutate({})
  }

  return (
    <>
      <Button
        variant="default"
        leftSection={<IconEraser size={16} />}
        loading={cleanUp.isPending}
        onClick={() => void askCleanUp()}
      >
        {say('cleanUp')}
      </Button>
      <Tooltip label={say('exportHint')}>
        <Button
          variant="default"
          leftSection={<IconDownload size={16} />}
          loading={download.isPending}
          onClick={() => download.mutate()}
        >
          {say('export')}
        </Button>
      </Tooltip>
      <Button leftSection={<IconPlus size={16} />} onClick={onAdd}>
        {say('add')}
      </Button>
    </>
  )
}

/** The selected codes themselves, since those of another page can be copied too. */
function useSelection(rows: readonly Redemption[]) {
  const [selected, setSelected] = useState<ReadonlyMap<RowKey, Redemption>>(new Map())

  function select(ids: ReadonlySet<RowKey>): void {
    const known = new Map([...selected, ...rows.map((row) => [row.id, row] as const)])
    setSelected(new Map([...known].filter(([id]) => ids.has(id))))
  }
  return { selected, select, deselect: () => setSelected(new Map()) }
}

interface EmptyInput {
  readonly filtered: boolean
  readonly onAdd: () => void
  readonly onReset: () => void
}

function useEmpty({ filtered, onAdd, onReset }: EmptyInput): EmptyProps {
  const say = useText(texts)
  const nothingMatches = useFilteredEmpty(onReset)
  if (filtered) return nothingMatches
  return {
    title: say('emptyTitle'),
    hint: say('emptyHint'),
    icon: <IconTicket />,
    action: (
      <Button leftSection={<IconPlus size={16} />} onClick={onAdd}>
        {say('emptyAction')}
      </Button>
    ),
  }
}
