import {
  type AdminIncident,
  type IncidentState,
  incidentKindLabels,
  incidentStateLabels,
  isEnded,
} from '../../../contract/entities/incident.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import type { Column } from '../../ui/list/listing.ts'
import { Tag } from '../../ui/view/tag.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import { texts } from './texts.ts'

export function useColumns(): Column<AdminIncident>[] {
  const say = useText(texts)
  const local = useLocal()
  return [
    { key: 'id', title: say('id'), sortKey: 'id', width: 72, hideable: true, cell: ({ id }) => id },
    { key: 'title', title: say('name'), heads: true, width: 260, cell: ({ title }) => title },
    { key: 'state', inCard: 'state', title: say('state'), cell: ({ state }) => <State state={state} /> },
    { key: 'kind', title: say('kind'), width: 110, hideable: true, cell: ({ kind }) => local(incidentKindLabels[kind]) },
    {
      key: 'affects',
      title: say('affects'),
      hideable: true,
      width: 200,
      cell: ({ groups, models }) => [...groups, ...models].join(', ') || say('all'),
    },
    {
      key: 'starts',
      inCard: 'figure',
      title: say('starts'),
      sortKey: 'starts_at',
      cell: ({ starts_at: at }) => <TimeText seconds={at} />,
    },
    { key: 'ends', inCard: 'figure', title: say('ends'), cell: ({ ends_at: at }) => <TimeText seconds={at} /> },
    {
      key: 'update',
      title: say('lastUpdate'),
      hideable: true,
      fill: true,
      width: 200,
      cell: ({ updates: [last] }) => last?.message,
    },
    { key: 'author', title: say('author'), hideable: true, hidden: true, cell: ({ created_by: name }) => name },
  ]
}

function State({ state }: { state: IncidentState }) {
  const local = useLocal()
  const color = isEnded(state) ? 'green' : state === 'scheduled' || state === 'in_progress' ? 'blue' : 'orange'
  return (
    <Tag dot color={color}>
      {local(incidentStateLabels[state])}
    </Tag>
  )
}
