import { useQuery } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useRef } from 'react'
import type { SavedView } from '../../../../contract/entities/saved-view.ts'
import { read } from '../../../lib/query.ts'
import type { Viewed } from '../listing.ts'
import { withTimesOfToday } from './moving-times.ts'

/** Hidden columns; null for the default of the list. */
type HiddenColumns = ReadonlySet<string> | null

export interface ViewsInput {
  readonly viewed: Viewed
  readonly hidden: HiddenColumns
  readonly onHidden: (hidden: HiddenColumns) => void
}

export interface ViewsMenuProps extends ViewsInput {
  readonly views: readonly SavedView[]
  readonly onShow: (view: SavedView) => void
}

/** The views of a list. It opens with its default one, unless the address asks for something. */
export function useViews({ viewed, onHidden }: ViewsInput) {
  const { list, filters, search, page, onSearch } = viewed
  const { data } = useQuery({ ...read('GET /api/user/self/views'), staleTime: Number.POSITIVE_INFINITY })
  const views = data?.filter((view) => view.list === list)
  const opened = useRef(false)

  function show({ search: kept, hidden }: SavedView): void {
    onSearch(withTimesOfToday(kept, filters))
    onHidden(hidden && new Set(hidden))
  }

  const open = useEffectEvent((first: SavedView | undefined) => {
    if (first && Object.keys(search).length === 0 && page === 1) show(first)
  })
  useEffect(() => {
    if (!data || opened.current) return
    opened.current = true
    open(data.find((view) => view.list === list && view.is_default))
  }, [data, list])

  return { views: views ?? [], show }
}
