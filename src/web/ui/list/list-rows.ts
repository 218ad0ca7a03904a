import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Sent } from '../../../contract/route.ts'
import type { AllRoutes } from '../../../contract/routes/index.ts'
import type { CallInput, CallReply } from '../../lib/call.ts'
import { usePageSize } from '../../lib/page-size.ts'
import { type ReadLine, read } from '../../lib/query.ts'
import { type Listing, pageOf, type RowOf, rowsOf } from './listing.ts'

interface ListOptions<Row> {
  /** Milliseconds until the rows are loaded again, or how these rows decide it. */
  readonly every?: number | false | ((rows: readonly Row[]) => number | false)
  /** The rows are loaded again when it changes. */
  readonly version?: number
}

/**
 * The rows of a line: `useList('GET /api/topup/', state)` by the filters, the order and the page of a `useListState`, or by a query of
 * its own. A table takes them as they are: `<DataTable {...list} …>`. While other rows are loaded, those before stay.
 */
export function useList<L extends ReadLine>(
  line: L,
  { params, query }: Sent<AllRoutes[L]>,
  { every = false, version }: ListOptions<RowOf<CallReply<L>>> = {},
) {
  // Optional parts may be passed, so one complete input is valid for every line.
  const asked = read(line, ...([{ params, query }] as unknown as CallInput<L>))
  const found = useQuery({
    ...asked,
    queryKey: version === undefined ? asked.queryKey : [...asked.queryKey, version],
    placeholderData: (last) => last,
    refetchInterval: typeof every === 'function' ? ({ state: { data } }) => every(rowsOf(listingOf<CallReply<L>>(data))) : every,
  })
  const data = listingOf<CallReply<L>>(found.data)
  return {
    ...loadingOf(found),
    rows: data && rowsOf(data),
    total: data && 'total' in data ? data.total : undefined,
    /** The whole reply. */
    data: found.data,
    /** The rows are those of the page or the filter before. */
    isPrevious: found.isPlaceholderData,
  }
}

/** The type of the rows is that of the reply. */
function listingOf<Reply>(reply: Reply | undefined) {
  return reply as unknown as Listing<RowOf<Reply>> | undefined
}

/** How the loading of a table's rows goes, for rows that are a part of what a query loads. */
export function loadingOf({ error, isFetching, refetch }: Pick<UseQueryResult, 'error' | 'isFetching' | 'refetch'>) {
  return { error, isFetching, onRetry: () => void refetch() }
}

/** The pages of rows that are all here: `<DataTable {...pages} …>`. */
export function usePages<Row>(all: readonly Row[] | undefined) {
  const [page, onPage] = useState(1)
  return { ...pageOf(all, page, usePageSize()), onPage }
}
