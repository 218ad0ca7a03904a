import { useQuery } from '@tanstack/react-query'
import { redemptionFilters, redemptionStatusLabels } from '../../../contract/entities/redemption.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { usePageSize } from '../../lib/page-size.ts'
import { read } from '../../lib/query.ts'
import { useUrlState } from '../../lib/search-params.ts'
import type { Filter } from '../../ui/list-filters.tsx'
import type { Sort } from '../../ui/listing.ts'
import { texts } from './texts.ts'

/** The list as the address asks for it. */
export function useRedemptionList() {
  const size = usePageSize()
  const filters = useUrlState({ keyword: '', status: 0, page: 1 })
  const order = useUrlState({ sort: '-id', page: 1 })
  const { page, ...asked } = filters.values
  const { sort } = order.values

  const query = { ...asked, sort, p: page, page_size: size }
  const list = useQuery({ ...read('GET /api/redemption/search', { query }), placeholderData: (last) => last })
  return {
    list,
    page,
    asked,
    onPage: (next: number) => filters.change({ page: next }),
    filters: { ...filters, onChange: filters.change, onReset: filters.reset },
    sort: { key: sort.replace(/^-/, ''), descending: sort.startsWith('-') },
    onSort: ({ key, descending }: Sort) => order.change({ sort: `${descending ? '-' : ''}${key}` }),
  }
}

export function useFilters(): readonly Filter[] {
  const say = useText(texts)
  const local = useLocal()
  const states = Object.entries(redemptionStatusLabels).map(([value, { label }]) => ({ value, label: local(label) }))
  return [
    { kind: 'search', name: 'keyword', label: say('search'), width: 280 },
    {
      kind: 'select',
      name: 'status',
      label: say('statusFilter'),
      choices: [...states, { value: String(redemptionFilters.expired), label: say('expiredUnused') }],
    },
  ]
}
