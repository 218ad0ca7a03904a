import { useQuery } from '@tanstack/react-query'
import { userStatus, userStatusLabels } from '../../../contract/entities/user.ts'
import { roleLabels } from '../../../contract/roles.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { usePageSize } from '../../lib/page-size.ts'
import { read } from '../../lib/query.ts'
import { useUrlState } from '../../lib/search-params.ts'
import type { Filter } from '../../ui/list-filters.tsx'
import type { Sort } from '../../ui/listing.ts'
import { texts } from './texts.ts'

/** Stands among the statuses in the address, though deletion is none. */
const deletedState = 'deleted'
const states = Object.entries(userStatus)

/** The list as the address asks for it. */
export function useUserList() {
  const size = usePageSize()
  const filters = useUrlState({ keyword: '', group: '', role: 0, state: '', page: 1 })
  const order = useUrlState({ sort: 'id', ascending: false, page: 1 })
  const { keyword, group, role, state, page } = filters.values
  const { sort, ascending } = order.values

  const status = states.find(([name]) => name === state)?.[1] ?? 0
  const deleted = state === deletedState
  const query = { keyword, group, role, status, deleted, sort, ascending, p: page, page_size: size }
  const list = useQuery({ ...read('GET /api/user/search', { query }), placeholderData: (last) => last })
  return {
    list,
    page,
    onPage: (next: number) => filters.change({ page: next }),
    filters: { ...filters, onChange: filters.change, onReset: filters.reset },
    sort: { key: sort, descending: !ascending },
    onSort: ({ key, descending }: Sort) => order.change({ sort: key, ascending: !descending }),
  }
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
      label: say('groupFilter'),
      choices: (groups.data ?? []).map((group) => ({ value: group, label: group })),
    },
    {
      kind: 'select',
      name: 'role',
      label: say('roleFilter'),
      choices: Object.entries(roleLabels).map(([value, { label }]) => ({ value, label: local(label) })),
    },
    {
      kind: 'select',
      name: 'state',
      label: say('stateFilter'),
      choices: [...statuses, { value: deletedState, label: say('deleted') }],
    },
  ]
}

const none = { zh: '', en: '' }
