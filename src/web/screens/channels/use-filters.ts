import { useQuery } from '@tanstack/react-query'
import { channelStatusLabels } from '../../../contract/entities/channel-status.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import type { Filter } from '../../ui/list/list-filters.tsx'
import { texts } from './texts.ts'
import { testFailed } from './use-channel-list.ts'
import { useChannelTypes } from './use-channel-types.ts'

export function useFilters(): readonly Filter[] {
  const say = useText(texts)
  const local = useLocal()
  const types = useChannelTypes()
  const groups = useQuery(read('GET /api/group/'))
  const statuses = Object.entries(channelStatusLabels).map(([value, { label }]) => ({ value, label: local(label) }))
  return [
    { kind: 'search', name: 'keyword', label: say('search'), width: 200 },
    { kind: 'text', name: 'model', label: say('modelFilter'), width: 130 },
    {
      kind: 'select',
      name: 'type',
      label: say('type'),
      width: 150,
      choices: (types.data ?? []).map(({ id, label }) => ({ value: String(id), label: local(label) })),
    },
    {
      kind: 'select',
      name: 'status',
      label: say('status'),
      width: 120,
      choices: [...statuses, { value: String(testFailed), label: say('lastTestFailed') }],
    },
    {
      kind: 'select',
      name: 'group',
      label: say('groupFilter'),
      width: 120,
      choices: (groups.data ?? []).map((group) => ({ value: group, label: group })),
    },
    { kind: 'text', name: 'tag', label: say('tagFilter'), width: 120 },
  ]
}
