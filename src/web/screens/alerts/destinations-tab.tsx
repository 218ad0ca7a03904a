import { Button, Stack } from '@mantine/core'
import { IconPencil, IconPlus, IconSend, IconWebhook } from '@tabler/icons-react'
import { lazy, useState } from 'react'
import {
  type Destination,
  destinationKinds,
  destinationStatus,
  destinationStatusLabels,
} from '../../../contract/entities/destination.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { toast } from '../../lib/toast.ts'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import { DataTable } from '../../ui/list/data-table.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import type { Column } from '../../ui/list/listing.ts'
import { actionIcon, type RowAction } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { deleteAction, toggleAction } from '../../ui/list/row-common-actions.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { StatusTag } from '../../ui/view/status-tag.tsx'
import { DeliveriesPanel } from './deliveries-panel.tsx'
import { texts } from './texts.ts'

const DestinationForm = lazy(async () => ({ default: (await import('./destination-form.tsx')).DestinationForm }))

const failing = { label: { zh: '持续失败', en: 'Failing' }, color: 'orange' }

/** All destinations, or only the webhooks that subscribe to events; below them the deliveries. */
export function DestinationsTab({ ofEvents = false }: { ofEvents?: boolean }) {
  const say = useText(texts)
  const list = useList('GET /api/alert/destination/', {}, { every: 15_000 })
  const [drawer, setDrawer] = useState<{ readonly shown: Destination | undefined }>()
  const close = () => setDrawer(undefined)
  const add = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setDrawer({ shown: undefined })}>
      {say(ofEvents ? 'addWebhook' : 'addDestination')}
    </Button>
  )
  const empty = ofEvents
    ? { title: say('webhooksEmpty'), hint: say('webhooksEmptyHint') }
    : { title: say('destinationsEmpty'), hint: say('destinationsEmptyHint') }
  const label = say(ofEvents ? 'tabWebhooks' : 'destinations')

  return (
    <Stack gap="lg">
      <Panel title={label} aside={add}>
        <DataTable
          label={label}
          columns={useColumns(ofEvents)}
          {...list}
          rows={ofEvents ? list.rows?.filter(({ events }) => events.length > 0) : list.rows}
          rowKey={({ id }) => id}
          isMuted={({ status }) => status !== destinationStatus.enabled}
          rowActions={(shown) => <Actions destination={shown} onEdit={() => setDrawer({ shown })} />}
          empty={{ ...empty, icon: <IconWebhook /> }}
        />
      </Panel>
      <DeliveriesPanel />
      <SideDrawer
        subject={drawer}
        title={({ shown }) => say(shown ? 'editDestination' : ofEvents ? 'addWebhook' : 'addDestination')}
        onClose={close}
      >
        {({ shown }) => <DestinationForm destination={shown} begins={ofEvents ? 'webhook' : 'mail'} onDone={close} />}
      </SideDrawer>
    </Stack>
  )
}

function useColumns(ofEvents: boolean): Column<Destination>[] {
  const say = useText(texts)
  const local = useLocal()
  return [
    { key: 'name', title: say('name'), heads: true, cell: ({ name }) => name },
    ...(ofEvents
      ? []
      : [{ key: 'kind', title: say('kind'), cell: ({ kind }: Destination) => local(destinationKinds[kind].label) }]),
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
      cell: ({ events }) =>
        events.length === 0 ? null : <span title={events.join(', ')}>{say('eventCount', { count: events.length })}</span>,
    },
  ]
}

function Actions({ destination: { id, name, status }, onEdit }: { destination: Destination; onEdit: () => void }) {
  const say = useText(texts)
  const lists = { invalidates: ['GET /api/alert/destination/', 'GET /api/alert/delivery/'] } as const
  const isOn = status === destinationStatus.enabled
  const save = useWrite('PUT /api/alert/destination/:id', { ...lists, success: say('saved', { name }) })
  const remove = useWrite('DELETE /api/alert/destination/:id', { ...lists, success: say('deleted', { name }) })
  const test = useWrite('POST /api/alert/destination/:id/test', {
    ...lists,
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
      onClick: () => test.mutate({ params: { id } }),
    },
    { label: say('edit'), icon: <IconPencil {...actionIcon} />, primary: true, onClick: onEdit },
    toggleAction(say, {
      isOn,
      disabled: save.isPending,
      onClick: () => save.mutate({ params: { id }, body: { enabled: !isOn } }),
    }),
    deleteAction(say, { object: name, onClick: () => remove.mutate({ params: { id } }) }),
  ]
  return <RowActions name={name} actions={actions} />
}
