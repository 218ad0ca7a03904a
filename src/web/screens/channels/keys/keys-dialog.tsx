import { Button, Switch } from '@mantine/core'
import { useState } from 'react'
import type { Channel, ChannelKey } from '../../../../contract/entities/channel.ts'
import { channelStatus, channelStatusLabels } from '../../../../contract/entities/channel-status.ts'
import { useText } from '../../../lib/i18n.ts'
import { Dialog } from '../../../ui/dialog/dialog.tsx'
import { DataTable } from '../../../ui/list/data-table.tsx'
import { useList, usePages } from '../../../ui/list/list-rows.ts'
import type { Column, RowKey } from '../../../ui/list/listing.ts'
import shared from '../../../ui/shared.module.css'
import { StatusTag } from '../../../ui/view/status-tag.tsx'
import { TimeText } from '../../../ui/view/time-text.tsx'
import { HealthCell, LastError } from '../health/health-cell.tsx'
import { texts as healthTexts } from '../health/texts.ts'
import { useKeyHealth } from '../health/use-health.ts'
import { AddKeys } from './add-keys.tsx'
import { KeyActions } from './key-actions.tsx'
import styles from './keys.module.css'
import { texts } from './texts.ts'
import { useKeyWrites } from './use-key-writes.ts'

interface KeysDialogProps {
  readonly channel: Pick<Channel, 'id' | 'name' | 'type'>
  readonly onClose: () => void
}

/** The keys of a channel, of which only the last characters are ever shown; actions here take effect at once. */
export function KeysDialog({ channel, onClose }: KeysDialogProps) {
  const say = useText(texts)
  const columns = useColumns(channel.id)
  const [onlyIdle, setOnlyIdle] = useState(false)
  const [selected, setSelected] = useState<ReadonlySet<RowKey>>(new Set())
  const keys = useList('GET /api/channel/:id/keys', { params: { id: channel.id } })
  const { rows: all = [] } = keys
  const inUse = all.filter(({ status }) => status === channelStatus.enabled).length
  const isIdle = ({ status }: ChannelKey) => status !== channelStatus.enabled
  const pages = usePages(onlyIdle ? keys.rows?.filter(isIdle) : keys.rows)

  return (
    <Dialog title={say('title', { name: channel.name })} size={860} onClose={onClose}>
      <AddKeys channel={channel} />
      {keys.rows && (
        <div className={styles.summary}>
          <span>{say('summary', { enabled: inUse, count: all.length })}</span>
          {(onlyIdle || inUse < all.length) && (
            <Switch
              size="xs"
              label={say('onlyIdle')}
              checked={onlyIdle}
              onChange={(event) => setOnlyIdle(event.currentTarget.checked)}
            />
          )}
        </div>
      )}
      <DataTable
        label={say('title', { name: channel.name })}
        dense
        columns={columns}
        {...keys}
        {...pages}
        rowKey={({ id }) => id}
        selected={selected}
        onSelect={setSelected}
        bulkActions={<BulkActions channelId={channel.id} ids={[...selected].map(Number)} onDone={() => setSelected(new Set())} />}
        rowActions={(key) => <KeyActions channelId={channel.id} channelKey={key} isLast={all.length === 1} />}
        isMuted={isIdle}
        empty={{ title: say(onlyIdle ? 'allInUse' : 'empty') }}
      />
    </Dialog>
  )
}

function useColumns(channelId: number): Column<ChannelKey>[] {
  const say = useText(texts)
  const sayHealth = useText(healthTexts)
  const health = useKeyHealth(channelId)
  return [
    {
      key: 'key',
      title: say('key'),
      heads: true,
      cell: ({ id, tail }) => (
        <span className={styles.name}>
          <code className={shared.code}>{tail}</code>
          <span className={shared.note}>#{id}</span>
        </span>
      ),
    },
    { key: 'status', title: say('status'), cell: ({ status }) => <StatusTag state={channelStatusLabels[status]} /> },
    { key: 'health', title: sayHealth('title'), cell: ({ id }) => <HealthCell health={health.get(id)} /> },
    { key: 'error', title: sayHealth('errorTitle'), cell: ({ id }) => <LastError health={health.get(id)} /> },
    {
      key: 'reason',
      title: say('reason'),
      cell: ({ status_reason: reason, status_time: at }) =>
        reason || at > 0 ? (
          <span className={styles.reason}>
            {reason}
            {at > 0 && (
              <span className={shared.note}>
                <TimeText seconds={at} />
              </span>
            )}
          </span>
        ) : null,
    },
    { key: 'created', title: say('created'), cell: ({ created_time: at }) => <TimeText seconds={at} /> },
  ]
}

function BulkActions({ channelId, ids, onDone }: { channelId: number; ids: readonly number[]; onDone: () => void }) {
  const say = useText(texts)
  const { setStatus } = useKeyWrites(onDone)
  const change = (status: 1 | 2) => setStatus.mutate({ params: { id: channelId }, body: { ids: [...ids], status } })
  return (
    <>
      <Button size="compact-sm" variant="default" disabled={setStatus.isPending} onClick={() => change(channelStatus.enabled)}>
        {say('enable')}
      </Button>
      <Button size="compact-sm" variant="default" disabled={setStatus.isPending} onClick={() => change(channelStatus.disabled)}>
        {say('disable')}
      </Button>
    </>
  )
}
