import { useQuery } from '@tanstack/react-query'
import { userStatus, userStatusLabels } from '../../../contract/entities/user.ts'
import { roleLabels } from '../../../contract/roles.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import type { Filter } from '../../ui/list/list-filters.tsx'
import { texts } from './texts.ts'

/** One of the statuses in the address, although deletion is not a status. */
const deletedState = 'deleted'
const states = Object.entries(userStatus)

interface Asked {
  readonly keyword: string
  readonly group: string
  readonly role: number
  readonly state: string
}

/** The query. */
export function searchOf({ state, ...asked }: Asked) {
  return { ...asked, status: states.find(([name]) => name === state)?.[1] ?? 0, deleted: state === deletedState }
}

export function useFilters(): readonly Filter[] {
  const say = useText(texts)
  const local = useLocal()
  const groups = useQuery(read('GET /api/group/'))
  const statuses = states.map(([value, number]) => ({ value, label: local(userStatusLabels[number]?.label ?? none) }))
  return [
    { kind: 'search', name: 'keyword', label: say('search'), width: 280 },
    {
      kind: 'select',
      name: 'group',
      label: say('group'),
      choices: (groups.data ?? []).map((group) => ({ value: group, label: group })),
    },
    {
      kind: 'select',
      name: 'role',
      label: say('role'),
      choices: Object.entries(roleLabels).map(([value, { label }]) => ({ value, label: local(label) })),
    },
    {
      kind: 'select',
      name: 'state',
      label: say('status'),
      choices: [...statuses, { value: deletedState, label: say('deleted') }],
    },
  ]
}

const none = { zh: '', en: '' }
