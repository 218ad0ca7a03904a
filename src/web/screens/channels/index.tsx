import { Button, Switch } from '@mantine/core'
import { IconPlus, IconServer2, IconTags } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import type { Channel } from '../../../contract/entities/channel.ts'
import { channelStatus } from '../../../contract/entities/channel-status.ts'
import { useText } from '../../lib/i18n.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { DrawerFormWaiting } from '../../ui/drawer-form.tsx'
import type { EmptyProps } from '../../ui/empty.tsx'
import { useFilteredEmpty } from '../../ui/filtered-empty.tsx'
import { ListFilters } from '../../ui/list-filters.tsx'
import type { RowKey } from '../../ui/listing.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { SideDrawer } from '../../ui/side-drawer.tsx'
import { Actions } from './actions.tsx'
import { BulkActions } from './bulk-actions.tsx'
import styles from './channels.module.css'
import { useColumns } from './columns.tsx'
import { DeleteDisabled } from './delete-disabled.tsx'
import { useTagGroups } from './tag-group.tsx'
import { texts } from './texts.ts'
import { useChannelDrawer } from './use-channel-drawer.ts'
import { useChannelList } from './use-channel-list.ts'
import { useChannelTypes } from './use-channel-types.ts'
import { useFilters } from './use-filters.ts'

const ChannelForm = lazy(async () => ({ default: (await import('./form.tsx')).ChannelForm }))
const TestDialog = lazy(async () => ({ default: (await import('./test-dialog.tsx')).TestDialog }))

export function Screen() {
  const say = useText(texts)
  const types = useChannelTypes()
  const { list, filters, arrangement, page, byTag, sort } = useChannelList()
  const drawer = useChannelDrawer()
  const [selected, setSelected] = useState<ReadonlySet<RowKey>>(new Set())
  const [tested, setTested] = useState<Channel>()
  const columns = useColumns({ types: types.data ?? [], onTag: byTag ? undefined : (tag) => filters.change({ tag }) })
  const groupOf = useTagGroups(list.data)
  const deselect = () => setSelected(new Set())

  return (
    <>
      <PageHeader
        title={say('title')}
        description={say('description')}
        actions={
          <>
            <DeleteDisabled onDone={deselect} />
            <Button leftSection={<IconPlus size={16} />} onClick={drawer.add}>
              {say('add')}
            </Button>
          </>
        }
      />
      <DataTable
        label={say('title')}
        name="channels"
        dense
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        page={page}
        onPage={(next) => filters.change({ page: next })}
        sort={sort}
        onSort={({ key }) => arrangement.change({ sort: key })}
        groupOf={byTag ? groupOf : undefined}
        selected={selected}
        onSelect={setSelected}
        bulkActions={<BulkActions ids={[...selected].map(Number)} onDone={deselect} />}
        rowActions={(channel) => (
          <Actions
            channel={channel}
            type={types.data?.find(({ id }) => id === channel.type)}
            onEdit={() => drawer.edit(channel.id)}
            onTestWith={() => setTested(channel)}
            onDeleted={() => setSelected(new Set([...selected].filter((id) => id !== channel.id)))}
          />
        )}
        isMuted={({ status }) => status !== channelStatus.enabled}
        empty={useEmpty({ filtered: filters.filtered || page > 1, byTag, onAdd: drawer.add, onReset: filters.reset })}
        toolbar={
          <div className={styles.toolbar}>
            <ListFilters
              filters={useFilters()}
              values={filters.values}
              onChange={filters.change}
              onReset={filters.reset}
              filtered={filters.filtered}
            />
            <Switch
              size="sm"
              label={say('byTag')}
              checked={byTag}
              onChange={(event) => arrangement.change({ tags: event.currentTarget.checked })}
            />
          </div>
        }
      />
      <SideDrawer
        wide
        subject={drawer.subject}
        title={({ id }) => say(id === undefined ? 'addTitle' : 'editTitle')}
        onClose={drawer.close}
      >
        {({ id }) => (
          <Suspense fallback={<DrawerFormWaiting />}>
            <ChannelForm id={id} onDone={drawer.close} />
          </Suspense>
        )}
      </SideDrawer>
      {tested && (
        <Suspense>
          <TestDialog channel={tested} onClose={() => setTested(undefined)} />
        </Suspense>
      )}
    </>
  )
}

interface EmptyInput {
  readonly filtered: boolean
  readonly byTag: boolean
  readonly onAdd: () => void
  readonly onReset: () => void
}

function useEmpty({ filtered, byTag, onAdd, onReset }: EmptyInput): EmptyProps {
  const say = useText(texts)
  const nothingMatches = useFilteredEmpty(onReset)
  if (filtered) return nothingMatches
  if (byTag) return { title: say('emptyTags'), hint: say('emptyTagsHint'), icon: <IconTags /> }
  return {
    title: say('emptyTitle'),
    hint: say('emptyHint'),
    icon: <IconServer2 />,
    action: (
      <Button leftSection={<IconPlus size={16} />} onClick={onAdd}>
        {say('add')}
      </Button>
    ),
  }
}
