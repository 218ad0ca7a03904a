import { usePageSize } from '../lib/page-size.ts'
import { type SearchShape, useUrlState, type Widened } from '../lib/search-params.ts'
import type { ListState } from './listing.ts'

interface Asked<Filters, Order> extends ListState {
  /** The filters alone. */
  readonly asked: Widened<Filters>
  readonly order: Widened<Order>
  readonly change: (patch: Partial<Widened<Filters & Order & { page: number }>>) => void
  /** For routes that count pages from 1. */
  readonly paging: { readonly p: number; readonly page_size: number }
}

/** `const state = useListState({ keyword: '', status: 0 }, { sort: '-id' })`: filters, and other parameters of the address. */
export function useListState<const Filters extends SearchShape, const Order extends SearchShape = Record<never, never>>(
  filters: Filters,
  order?: Order,
): Asked<Filters, Order> {
  const size = usePageSize()
  const begins: SearchShape = { ...filters, ...order, page: 1 }
  const { values, change } = useUrlState(begins)
  const pick = (shape: SearchShape) => Object.fromEntries(Object.keys(shape).map((name) => [name, values[name] ?? '']))
  const differs = (name: string) => values[name] !== begins[name]
  const page = Number(values.page)
  const { sort = '' } = values

  return {
    page,
    onPage: (next) => change({ page: next }),
    values,
    onChange: change,
    onReset: () => change({ ...filters, page: 1 }),
    filtered: Object.keys(filters).some(differs),
    sort: sort === '' ? undefined : { key: String(sort).replace(/^-/, ''), descending: String(sort).startsWith('-') },
    onSort: ({ key, descending }) => change({ sort: `${descending ? '-' : ''}${key}` }),
    search: Object.fromEntries(
      Object.keys({ ...filters, ...order })
        .filter(differs)
        .map((name) => [name, String(values[name])]),
    ),
    onSearch: (search) => change({ ...begins, ...search }),
    // Every value was parsed by the type of its default.
    asked: pick(filters) as Widened<Filters>,
    order: pick(order ?? {}) as Widened<Order>,
    change: (patch) => change(patch as SearchShape),
    paging: { p: page, page_size: size },
  }
}
