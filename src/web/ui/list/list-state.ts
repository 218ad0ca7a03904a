import { usePageSize } from '../../lib/page-size.ts'
import { type SearchShape, useUrlState, type Widened } from '../../lib/search-params.ts'
import type { ListState } from './listing.ts'

interface Paging {
  readonly p: number
  readonly page_size: number
}

interface Asked<Filters, Order> extends ListState {
  /** The filters alone. */
  readonly asked: Widened<Filters>
  readonly order: Widened<Order>
  readonly change: (patch: Partial<Widened<Filters & Order & { page: number }>>) => void
  /** The page alone, counted from 1. */
  readonly paging: Paging
  /** The page for routes that count from 0, and reply with all rows unless they are asked for one. */
  readonly pagingFromZero: Paging & { readonly paged: true }
  /** The filters, the order and the page, as most routes take them. */
  readonly query: Widened<Filters> & Widened<Order> & Paging
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
  const paging = { p: page, page_size: size }
  // Every value was parsed by the type of its default.
  const asked = pick(filters) as Widened<Filters>
  const ordered = pick(order ?? {}) as Widened<Order>
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
    asked,
    order: ordered,
    change: (patch) => change(patch as SearchShape),
    paging,
    pagingFromZero: { p: page - 1, page_size: size, paged: true },
    query: { ...asked, ...ordered, ...paging },
  }
}
