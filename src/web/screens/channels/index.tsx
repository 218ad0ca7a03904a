import { Button, Switch } from '@mantine/core'
import { IconPlus, IconServer2, IconTags } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { channelStatus } from '../../../contract/entities/channel-status.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
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
import { ChannelDialogs, type Opened } from './channel-dialogs.tsx'
import styles from './channels.module.css'
import { useColumns } from './columns.tsx'
import { useTagGroups } from './tags/tag-group.tsx'
import { texts } from './texts.ts'
import { UpkeepActions } from './upkeep/upkeep-actions.tsx'
import { useJobs } from './upkeep/use-jobs.ts'
import { useChannelDrawer } from './use-channel-drawer.ts'
import { useChannelList } from './use-channel-list.ts'
import { useChannelTypes } from './use-channel-types.ts'
import { useFilters } from './use-filters.ts'

const ChannelForm = lazy(async () => ({ default: (await import('./form/channel-form.tsx')).ChannelForm }))
const JobStrip = lazy(async () => ({ default: (await import('./upkeep/job-strip.tsx')).JobStrip }))

export function Screen() {
  const say = useText(texts)
  const { data: types = [] } = useChannelTypes()
  const { list, filters, arrangement, page, byTag, sort } = useChannelList()
  const drawer = useChannelDrawer()
  const jobs = useJobs()
  const { data: changes = [] } = useQuery({ ...read('GET /api/channel/model_changes'), enabled: jobs.knowsModels })
  const [selected, setSelected] = useState<ReadonlySet<RowKey>>(new Set())
  const [opened, setOpened] = useState<Opened>()
  const columns = useColumns({
    types,
    onTag: byTag ? undefined : (tag) => filters.change({ tag }),
    onKeys: (channel) => setOpened({ kind: 'keys', channel }),
    changes,
    onChanges: () => setOpened({ kind: 'changes' }),
  })
  const groupOf = useTagGroups(list.data, (tagged) => setOpened({ kind: 'tag', tagged }))
  const ids = [...selected].map(Number)
  const deselect = () => setSelected(new Set())

  return (
    <>
      <PageHeader
        title={say('title')}
        description={say('description')}
        actions={
          <>
            <UpkeepActions
              jobs={jobs}
              changes={changes.length}
              onChanges={() => setOpened({ kind: 'changes' })}
              onDeleted={deselect}
            />
            <Button leftSection={<IconPlus size={16} />} onClick={drawer.add}>
              {say('add')}
            </Button>
          </>
        }
      />
      {jobs.watched.length > 0 && (
        <Suspense>
          <JobStrip jobs={jobs} />
        </Suspense>
      )}
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
        bulkActions={<BulkActions ids={ids} onTag={() => setOpened({ kind: 'batch-tag', ids })} onDone={deselect} />}
        rowActions={(channel) => (
          <Actions
            channel={channel}
            type={types.find(({ id }) => id === channel.type)}
            onEdit={() => drawer.edit(channel.id)}
            onTestWith={() => setOpened({ kind: 'test', channel })}
            onKeys={() => setOpened({ kind: 'keys', channel })}
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
            <ChannelForm id={id} onKeys={(channel) => setOpened({ kind: 'keys', channel })} onDone={drawer.close} />
          </Suspense>
        )}
      </SideDrawer>
      <ChannelDialogs
        opened={opened}
        types={types}
        channels={rowsOf(list.data)}
        jobs={jobs}
        onBatchDone={deselect}
        onClose={() => setOpened(undefined)}
      />
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
