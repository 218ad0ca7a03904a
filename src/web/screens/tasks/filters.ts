import { type Label, taskStatusLabels } from '../../../contract/entities/task.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { usePageSize } from '../../lib/page-size.ts'
import { useUrlState } from '../../lib/search-params.ts'
import type { Filter } from '../../ui/list-filters.tsx'
import { texts } from './texts.ts'

/** The filters as they stand in the address. */
export function useTaskFilters(from: number) {
  return useUrlState({ from, to: 0, id: '', action: '', status: '', channel_id: '', username: '', page: 1 })
}

export type TaskFilters = ReturnType<typeof useTaskFilters>['values']

/** What the server is asked, but for the name of the task; `unit` is the number of its time units in a second. */
export function useTaskQuery(
  { from, to, page, action, status, channel_id, username }: TaskFilters,
  isAdmin: boolean,
  unit: number,
) {
  const pageSize = usePageSize()
  const own = { start_timestamp: from * unit, end_timestamp: to * unit, action, status }
  const paging = { p: page - 1, page_size: pageSize, paged: true }
  return { ...own, ...paging, ...(isAdmin ? { channel_id, username } : {}) }
}

export function useTaskInputs(
  actions: Readonly<Record<string, Label>>,
  states: readonly string[],
  isAdmin: boolean,
): readonly Filter[] {
  const say = useText(texts)
  const local = useLocal()
  const choicesOf = (labels: readonly (readonly [string, Label])[]) =>
    labels.map(([value, { label }]) => ({ value, label: local(label) }))
  const known = states.flatMap((state) => {
    const label = taskStatusLabels[state]
    return label ? [[state, label] as const] : []
  })
  const own: Filter[] = [
    { kind: 'time', from: 'from', to: 'to', label: say('timeRange') },
    { kind: 'text', name: 'id', label: say('taskId'), width: 170 },
    { kind: 'select', name: 'action', label: say('anyAction'), choices: choicesOf(Object.entries(actions)), width: 140 },
    { kind: 'select', name: 'status', label: say('anyStatus'), choices: choicesOf(known), width: 130 },
  ]
  if (!isAdmin) return own
  return [
    ...own,
    { kind: 'text', name: 'username', label: say('username'), width: 110 },
    { kind: 'text', name: 'channel_id', label: say('channelId'), width: 106 },
  ]
}
