import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { read } from '../../lib/query.ts'
import type { Choice } from '../../ui/list/lookup-filter.tsx'

const offeredMax = 50
const unfiltered = { status: undefined, type: undefined, ascending: undefined, paged: true, p: 0, page_size: offeredMax }

/** Channels that match what is typed, by name or id, and the chosen one. An id that no channel has is offered too: its rows remain. */
export function useChannelChoices(typed: string, chosen: string): readonly Choice[] {
  const [keyword] = useDebouncedValue(typed.trim(), 200)
  const matching = useQuery({
    ...read('GET /api/channel/search', { query: { ...unfiltered, keyword } }),
    placeholderData: keepPreviousData,
  })
  const named = useQuery({
    ...read('GET /api/channel/search', { query: { ...unfiltered, keyword: chosen } }),
    enabled: chosen !== '',
  })
  const found = [...rowsOf(matching.data), ...rowsOf(named.data).filter(({ id }) => String(id) === chosen)]
  const choices = new Map(found.map(({ id, name }) => [String(id), { value: String(id), label: `${name} (#${id})` }]))
  for (const id of [chosen, keyword]) if (/^\d+$/.test(id) && !choices.has(id)) choices.set(id, { value: id, label: `#${id}` })
  return [...choices.values()]
}

function rowsOf<Row>(found: readonly Row[] | { readonly items: readonly Row[] } | undefined): readonly Row[] {
  if (found === undefined) return []
  return 'items' in found ? found.items : found
}
