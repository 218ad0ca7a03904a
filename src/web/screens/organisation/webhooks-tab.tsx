import { Button } from '@mantine/core'
import { IconPencil, IconPlus, IconSend, IconWebhook } from '@tabler/icons-react'
import { lazy, useState } from 'react'
import {
  type Destination,
  destinationStatus,
  destinationStatusLabels,
  type EventType,
  eventTypes,
} from '../../../contract/entities/destination.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import type { Payer } from '../../lib/payer.ts'
import { useWrite } from '../../lib/query.ts'
import { toast } from '../../lib/toast.ts'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import { DataTable } from '../../ui/list/data-table.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { actionIcon, type RowAction } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { deleteAction, toggleAction } from '../../ui/list/row-common-actions.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { StatusTag } from '../../ui/view/status-tag.tsx'
import { webhookTexts } from './webhook-texts.ts'

const WebhookForm = lazy(async () => ({ default: (await import('./webhook-form.tsx')).WebhookForm }))

/** The webhooks that get the events of the organisation. */
export function WebhooksTab({ payer }: { payer: Payer }) {
  const say = useText(webhookTexts)
  const local = useLocal()
  const list = useList('GET /api/organisation/:id/webhooks', { params: { id: payer.id } })
  const [editing, setEditing] = useState<Destination | 'new'>()
  const isEmpty = list.rows?.length === 0
  const failing = { label: { zh: webhookTexts.failing[0], en: webhookTexts.failing[1] }, color: 'orange' }
  const add = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setEditing('new')}>
      {say('add')}
    </Button>
  )
  return (
    <Panel title={say('title')} description={say('hint')} aside={!isEmpty && add}>
      <DataTable
        label={say('title')}
        {...list}
        rowKey={({ id }) => id}
        isMuted={({ status }) => status !== destinationStatus.enabled}
        columns={[
          { key: 'name', title: say('name'), heads: true, cell: ({ name }) => name },
          { key: 'target', title: say('target'), inCard: 'figure', cell: ({ target }) => target },
          {
            key: 'state',
            title: say('state'),
            inCard: 'state',
            cell: ({ status, failing_since, last_error }) => {
              const isFailing = status === destinationStatus.enabled && failing_since > 0
              return <StatusTag state={isFailing ? failing : destinationStatusLabels[status]} hint={last_error || undefined} />
            },
          },
          {
            key: 'events',
            title: say('events'),
            inCard: 'figure',
            // The server sends names of that table.
            cell: ({ events }) => events.map((type) => local(eventTypes[type as EventType])).join(', '),
          },
        ]}
        rowActions={(webhook) => <Actions payer={payer} webhook={webhook} onEdit={() => setEditing(webhook)} />}
        empty={{ title: say('empty'), hint: say('hint'), icon: <IconWebhook />, action: add }}
      />
      <SideDrawer
        subject={editing}
        title={(shown) => (shown === 'new' ? say('add') : say('editOf', { name: shown.name }))}
        onClose={() => setEditing(undefined)}
      >
        {(shown) => (
          <WebhookForm payer={payer} saved={shown === 'new' ? undefined : shown} onDone={() => setEditing(undefined)} />
        )}
      </SideDrawer>
    </Panel>
  )
}

interface ActionsProps {
  readonly payer: Payer
  readonly webhook: Destination
  readonly onEdit: () => void
}

function Actions({ payer, webhook: { id, name, status }, onEdit }: ActionsProps) {
  const say = useText(webhookTexts)
  const invalidates = ['GET /api/organisation/:id/webhooks'] as const
  const params = { id: payer.id, webhook: id }
  const isOn = status === destinationStatus.enabled
  const save = useWrite('PUT /api/organisation/:id/webhooks/:webhook', { invalidates, success: say('saved', { name }) })
  const remove = useWrite('DELETE /api/organisation/:id/webhooks/:webhook', { invalidates, success: say('deleted', { name }) })
  const test = useWrite('POST /api/organisation/:id/webhooks/:webhook/test', {
    invalidates,
    onSuccess: ({ delivered, status: code, answer }) => {
      const told = [code > 0 ? say('statusOf', { status: code }) : '', answer].filter((part) => part !== '').join(': ')
      const line = told === '' ? '' : ` (${told})`
      if (delivered) toast.success(say('delivered') + line)
      else toast.error(say('notDelivered') + line)
    },
  })
  const actions: RowAction[] = [
    {
      label: say('test'),
      icon: <IconSend {...actionIcon} />,
      primary: true,
      busy: test.isPending,
      onClick: () => test.mutate({ params }),
    },
    { label: say('edit'), icon: <IconPencil {...actionIcon} />, primary: true, onClick: onEdit },
    toggleAction(say, {
      isOn,
      disabled: save.isPending,
      onClick: () => save.mutate({ params, body: { enabled: !isOn } }),
    }),
    deleteAction(say, { object: name, onClick: () => remove.mutate({ params }) }),
  ]
  return <RowActions name={name} actions={actions} />
}
