import { Switch } from '@mantine/core'
import { IconServer2, IconTags } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import type { Channel } from '../../../contract/entities/channel.ts'
import { channelStatus } from '../../../contract/entities/channel-status.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { ListFrame } from '../../ui/list/list-frame.tsx'
import { Actions } from './actions.tsx'
import { AddedNotice } from './added-notice.tsx'
import { useBulkActions } from './bulk-actions.ts'
import { ChannelDialogs, type Opened } from './channel-dialogs.tsx'
import { useColumns } from './columns.tsx'
import { headTexts } from './head-texts.ts'
import { useChannelHealth } from './health/use-health.ts'
import { useTagGroups } from './tags/tag-group.tsx'
import { texts } from './texts.ts'
import { UpkeepActions } from './upkeep/upkeep-actions.tsx'
import { useJobs } from './upkeep/use-jobs.ts'
import { useChannelList } from './use-channel-list.ts'
import { useChannelTypes } from './use-channel-types.ts'
import { useFilters } from './use-filters.ts'

const JobStrip = lazy(async () => ({ default: (await import('./upkeep/job-strip.tsx')).JobStrip }))

interface ChannelListProps {
  /** Channels that were just added: they are on top. */
  readonly added: readonly number[]
  readonly onAdd: () => void
  readonly onEdit: (id: number) => void
  readonly onKeys: (channel: Channel) => void
}

/** All channels, with bulk actions. */
export function ChannelList({ added, onAdd, onEdit, onKeys }: ChannelListProps) {
  const say = useText(texts)
  const sayHead = useText(headTexts)
  const { data: types = [] } = useChannelTypes()
  const { list, state, byTag, filter } = useChannelList(added)
  const { rows = [] } = list
  const health = useChannelHealth(rows.map(({ id }) => id))
  const jobs = useJobs()
  const { data: changes = [] } = useQuery({ ...read('GET /api/channel/model_changes'), enabled: jobs.knowsModels })
  const [opened, setOpened] = useState<Opened>()
  // Deleted rows may have been selected: the selection is cleared.
  const [cleared, setCleared] = useState(0)
  const onChanges = () => setOpened({ kind: 'changes' })
  const groupOf = useTagGroups(rows, (tagged) => setOpened({ kind: 'tag', tagged }))

  return (
    <>
      <ListFrame
        key={cleared}
        name="channels"
        dense
        title={sayHead('title')}
        description={sayHead('description')}
        state={state}
        {...list}
        columns={useColumns({
          types,
          onTag: byTag ? undefined : (tag) => state.change({ tag }),
          onKeys,
          changes,
          onChanges,
          health,
        })}
        filters={useFilters()}
        tools={
          <Switch
            size="sm"
            label={say('byTag')}
            checked={byTag}
            onChange={(event) => state.change({ tags: event.currentTarget.checked })}
          />
        }
        groupOf={byTag ? groupOf : undefined}
        isLit={({ id }) => added.includes(id)}
        isMuted={({ status }) => status !== channelStatus.enabled}
        rowActions={(channel, forget) => (
          <Actions
            channel={channel}
            type={types.find(({ id }) => id === channel.type)}
            onEdit={() => onEdit(channel.id)}
            onTestWith={() => setOpened({ kind: 'test', channel })}
            onKeys={() => onKeys(channel)}
            onDeleted={forget}
          />
        )}
        bulkActions={useBulkActions({ onTag: (ids, done) => setOpened({ kind: 'batch-tag', ids, done }) })}
        actions={
          <UpkeepActions jobs={jobs} changes={changes.length} onChanges={onChanges} onDeleted={() => setCleared(cleared + 1)} />
        }
        file={{ line: 'GET /api/channel/export.csv', name: 'channels.csv', query: filter }}
        add={{ label: say('add'), onClick: onAdd }}
        empty={
          byTag
            ? { title: say('emptyTags'), hint: say('emptyTagsHint'), icon: <IconTags />, action: null }
            : { title: say('emptyTitle'), hint: say('emptyHint'), icon: <IconServer2 /> }
        }
      >
        {added.length > 1 && <AddedNotice added={added} rows={rows} />}
        {jobs.watched.length > 0 && (
          <Suspense>
            <JobStrip jobs={jobs} />
          </Suspense>
        )}
      </ListFrame>
      <ChannelDialogs opened={opened} channels={rows} jobs={jobs} onClose={() => setOpened(undefined)} />
    </>
  )
}
