import { Button } from '@mantine/core'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { type Token, tokenStatus, tokenStatusLabels } from '../../../contract/entities/token.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { CopyText } from '../../ui/copy-text.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { DrawerFormWaiting } from '../../ui/drawer-form.tsx'
import type { EmptyProps } from '../../ui/empty.tsx'
import { useFilteredEmpty } from '../../ui/filtered-empty.tsx'
import { type Filter, ListFilters } from '../../ui/list-filters.tsx'
import { type RowKey, rowsOf } from '../../ui/listing.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { SideDrawer } from '../../ui/side-drawer.tsx'
import { Actions } from './actions.tsx'
import { BulkActions } from './bulk-actions.tsx'
import { useColumns } from './columns.tsx'
import { OwnUseNotice } from './own-use-notice.tsx'
import { texts } from './texts.ts'
import { useServerAddress } from './use-server-address.ts'
import { useTokenList } from './use-token-list.ts'

const TokenForm = lazy(async () => ({ default: (await import('./form.tsx')).TokenForm }))

/** What the form at the side is about: a new token or the one with this id. */
interface DrawerSubject {
  readonly id: number | undefined
}

export function Screen() {
  const say = useText(texts)
  const { list, page, onPage, filters } = useTokenList()
  const [drawer, setDrawer] = useState<DrawerSubject>()
  const { selected, select, deselect } = useSelection(rowsOf(list.data))
  const columns = useColumns()
  const add = () => setDrawer({ id: undefined })
  const close = () => setDrawer(undefined)
  const address = `${useServerAddress()}/v1`

  return (
    <>
      <PageHeader
        title={say('title')}
        description={
          <>
            {say('description')}
            <CopyText text={address}>{address}</CopyText>
          </>
        }
        actions={
          <Button leftSection={<IconPlus size={16} />} onClick={add}>
            {say('add')}
          </Button>
        }
      />
      <OwnUseNotice />
      <DataTable
        label={say('title')}
        name="tokens"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        page={page}
        onPage={onPage}
        selected={new Set(selected.keys())}
        onSelect={select}
        bulkActions={<BulkActions tokens={[...selected.values()]} onDone={deselect} />}
        rowActions={(token) => (
          <Actions
            token={token}
            onEdit={() => setDrawer({ id: token.id })}
            onDeleted={() => select(new Set([...selected.keys()].filter((id) => id !== token.id)))}
          />
        )}
        isMuted={({ status }) => status !== tokenStatus.enabled}
        empty={useEmpty({ filtered: filters.filtered || page > 1, onAdd: add, onReset: filters.onReset })}
        toolbar={<ListFilters filters={useFilters()} {...filters} />}
      />
      <SideDrawer subject={drawer} title={({ id }) => say(id === undefined ? 'addTitle' : 'editTitle')} onClose={close}>
        {({ id }) => (
          <Suspense fallback={<DrawerFormWaiting />}>
            <TokenForm id={id} onDone={close} />
          </Suspense>
        )}
      </SideDrawer>
    </>
  )
}

/** The selected tokens themselves, since those of another page can be copied too. */
function useSelection(rows: readonly Token[]) {
  const [selected, setSelected] = useState<ReadonlyMap<RowKey, Token>>(new Map())

  function select(ids: ReadonlySet<RowKey>): void {
    const known = new Map([...selected, ...rows.map((row) => [row.id, row] as const)])
    setSelected(new Map([...known].filter(([id]) => ids.has(id))))
  }

  return { selected, select, deselect: () => setSelected(new Map()) }
}

function useFilters(): readonly Filter[] {
  const say = useText(texts)
  const local = useLocal()
  const groups = useQuery(read('GET /api/user/self/groups'))
  return [
    { kind: 'search', name: 'keyword', label: say('search') },
    { kind: 'text', name: 'token', label: say('keyFilter'), width: 180 },
    {
      kind: 'select',
      name: 'status',
      label: say('statusFilter'),
      choices: Object.entries(tokenStatusLabels).map(([value, { label }]) => ({ value, label: local(label) })),
    },
    {
      kind: 'select',
      name: 'group',
      label: say('groupFilter'),
      choices: [...Object.keys(groups.data ?? {}), 'auto'].map((group) => ({ value: group, label: group })),
    },
  ]
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
    icon: <IconKey />,
    action: (
      <Button leftSection={<IconPlus size={16} />} onClick={onAdd}>
        {say('emptyAction')}
      </Button>
    ),
  }
}
