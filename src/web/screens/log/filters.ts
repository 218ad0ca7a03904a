import { logTypeLabels } from '../../../contract/entities/log.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { usePageSize } from '../../lib/page-size.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { startOfDay } from '../../lib/times.ts'
import type { Filter } from '../../ui/list-filters.tsx'
import { texts } from './texts.ts'

/** The filters as they stand in the address. Without any it is today. */
export function useLogFilters() {
  return useUrlState({
    type: 0,
    from: startOfDay(),
    to: 0,
    token_name: '',
    model_name: '',
    group: '',
    request_id: '',
    username: '',
    channel: '',
    page: 1,
  })
}

export type LogFilters = ReturnType<typeof useLogFilters>['values']

/** What the server is asked: the filter of rows and statistics alike, and the page of the rows. */
export function useLogQuery({ from, to, page, ...rest }: LogFilters, isAdmin: boolean) {
  const pageSize = usePageSize()
  const { username, channel, ...own } = { ...rest, start_timestamp: from, end_timestamp: to }
  const filter = isAdmin ? { ...own, username, channel } : own
  return { filter, paged: { ...filter, p: page, page_size: pageSize } }
}

export function useFilterInputs(isAdmin: boolean): readonly Filter[] {
  const say = useText(texts)
  const local = useLocal()
  const types = Object.entries(logTypeLabels).map(([value, { label }]) => ({ value, label: local(label) }))
  const own: Filter[] = [
    { kind: 'time', from: 'from', to: 'to', label: say('timeRange') },
    { kind: 'select', name: 'type', label: say('anyType'), choices: types, width: 124 },
    { kind: 'text', name: 'model_name', label: say('modelName'), width: 132 },
    { kind: 'text', name: 'token_name', label: say('tokenName'), width: 116 },
    { kind: 'text', name: 'group', label: say('group'), width: 92 },
    { kind: 'text', name: 'request_id', label: say('requestId'), width: 128 },
  ]
  if (!isAdmin) return own
  return [
    ...own,
    { kind: 'text', name: 'username', label: say('username'), width: 104 },
    { kind: 'text', name: 'channel', label: say('channelId'), width: 106 },
  ]
}
