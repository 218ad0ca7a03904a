import { logType, logTypeLabels } from '../../../contract/entities/log.ts'
import { requestCostReasons, siteCostReasonLabels } from '../../../contract/entities/site-cost.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { startOfDay } from '../../lib/times.ts'
import type { Filter } from '../../ui/list/list-filters.tsx'
import { useListState } from '../../ui/list/list-state.ts'
import { texts } from './texts.ts'
import { useChannelChoices } from './use-channel-choices.ts'

/** The state of the list in the address; the default is today. */
export function useLogState() {
  const filters = {
    type: 0,
    from: startOfDay(),
    to: 0,
    token_name: '',
    model_name: '',
    group: '',
    request_id: '',
    status: '',
    code: '',
    username: '',
    channel: '',
    site_cost: '',
  }
  return useListState(filters, { sort: '-created_at' })
}

/** The query for rows, statistics and files alike. */
export function filterOf(
  { from, to, username, channel, site_cost, ...rest }: ReturnType<typeof useLogState>['asked'],
  isAdmin: boolean,
) {
  const own = { ...rest, start_timestamp: from, end_timestamp: to }
  return isAdmin ? { ...own, username, channel, site_cost } : own
}
export type LogFilter = ReturnType<typeof filterOf>

/** Status and code filter failed calls, and are offered only when failed calls are selected or one of them is set. */
export function useFilterInputs(
  isAdmin: boolean,
  { type, status, code }: Pick<ReturnType<typeof useLogState>['asked'], 'type' | 'status' | 'code'>,
): readonly Filter[] {
  const say = useText(texts)
  const local = useLocal()
  const reasons = requestCostReasons.map((value) => ({ value, label: local(siteCostReasonLabels[value]) }))
  const types = Object.entries(logTypeLabels).map(([value, { label }]) => ({ value, label: local(label) }))
  const failed: Filter[] = [
    { kind: 'text', more: true, name: 'status', label: say('status'), width: 92 },
    { kind: 'text', more: true, name: 'code', label: say('code'), width: 132 },
  ]
  const own: Filter[] = [
    { kind: 'time', from: 'from', to: 'to', label: say('timeRange') },
    { kind: 'select', name: 'type', label: say('anyType'), choices: types, width: 124 },
    { kind: 'text', name: 'model_name', label: say('modelName'), width: 132 },
    { kind: 'text', more: true, name: 'token_name', label: say('tokenName'), width: 116 },
    { kind: 'text', more: true, name: 'group', label: say('group'), width: 92 },
    { kind: 'text', more: true, name: 'request_id', label: say('requestId'), width: 128 },
    ...(type === logType.error || status !== '' || code !== '' ? failed : []),
  ]
  if (!isAdmin) return own
  return [
    ...own,
    { kind: 'text', more: true, name: 'username', label: say('username'), width: 104 },
    { kind: 'lookup', more: true, name: 'channel', label: say('channel'), width: 184, useChoices: useChannelChoices },
    { kind: 'select', more: true, name: 'site_cost', label: say('siteCost'), choices: reasons, width: 184 },
  ]
}
