import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type Delivery, deliveryStateLabels } from '../../../contract/entities/destination.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { read, useWrite } from '../../lib/query.ts'
import { formatTime } from '../../lib/times.ts'
import { DataTable } from '../../ui/list/data-table.tsx'
import { ListFilters } from '../../ui/list/list-filters.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { useListState } from '../../ui/list/list-state.ts'
import type { Column } from '../../ui/list/listing.ts'
import { Panel } from '../../ui/page/panel.tsx'
import { StatusTag } from '../../ui/view/status-tag.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import styles from './alerts.module.css'
import { texts } from './texts.ts'

/** Sent messages with their responses, and queued ones. */
export function DeliveriesPanel() {
  const say = useText(texts)
  const local = useLocal()
  const state = useListState({ destination: 0, state: '' })
  const list = useList('GET /api/alert/delivery/', state, { every: 10_000 })
  const { data: destinations = [] } = useQuery(read('GET /api/alert/destination/'))
  return (
    <Panel title={say('deliveries')} description={say('deliveriesHint')}>
      <DataTable
        label={say('deliveries')}
        dense
        columns={useColumns()}
        {...list}
        rowKey={({ id }) => id}
        page={state.page}
        onPage={state.onPage}
        rowActions={(delivery) => delivery.state !== 'pending' && <SendAgain id={delivery.id} />}
        toolbar={
          <ListFilters
            filters={[
              {
                kind: 'select',
                name: 'destination',
                label: say('destinationFilter'),
                choices: destinations.map(({ id, name }) => ({ value: String(id), label: name })),
              },
              {
                kind: 'select',
                name: 'state',
                label: say('state'),
                choices: Object.entries(deliveryStateLabels).map(([value, { label }]) => ({ value, label: local(label) })),
              },
            ]}
            {...state}
          />
        }
        empty={{ title: say('deliveriesEmpty') }}
      />
    </Panel>
  )
}

function SendAgain({ id }: { id: number }) {
  const say = useText(texts)
  const send = useWrite('POST /api/alert/delivery/:id/send', {
    invalidates: ['GET /api/alert/delivery/'],
    success: say('queued'),
  })
  return (
    <Button size="compact-sm" variant="default" loading={send.isPending} onClick={() => send.mutate({ params: { id } })}>
      {say('sendAgain')}
    </Button>
  )
}

function useColumns(): Column<Delivery>[] {
  const say = useText(texts)
  return [
    { key: 'time', title: say('time'), cell: ({ created_at }) => <TimeText seconds={created_at} /> },
    { key: 'event', title: say('event'), heads: true, cell: ({ type }) => <code>{type}</code> },
    { key: 'destination', title: say('destinationFilter'), inCard: 'figure', cell: ({ destination_name: name }) => name },
    {
      key: 'state',
      title: say('state'),
      inCard: 'state',
      cell: ({ state, next_at: at }) => (
        <StatusTag state={deliveryStateLabels[state]} hint={at > 0 ? say('next', { time: formatTime(at) }) : undefined} />
      ),
    },
    { key: 'attempts', title: say('attempts'), align: 'right', inCard: 'figure', cell: ({ attempts }) => attempts },
    {
      key: 'answer',
      title: say('answer'),
      cell: ({ status, answer }) =>
        status === 0 && answer === '' ? null : <span className={styles.answer}>{[status || '', answer].join(' ').trim()}</span>,
    },
  ]
}
