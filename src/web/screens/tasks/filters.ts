import { type Label, taskStatusLabels } from '../../../contract/entities/task.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import type { Filter } from '../../ui/list/list-filters.tsx'
import { useListState } from '../../ui/list/list-state.ts'
import { texts } from './texts.ts'

/** The state of the list in the address; by default it begins at `from`. */
export function useTaskState(from: number) {
  return useListState({ from, to: 0, id: '', action: '', status: '', channel_id: '', username: '' }, { sort: '-id' })
}

type TaskState = ReturnType<typeof useTaskState>

/** The query of rows and files, except the id of the task; `unit` is the number of its time units in a second. */
export function filterOf(
  { from, to, id: _id, channel_id, username, ...own }: TaskState['asked'],
  isAdmin: boolean,
  unit: number,
) {
  const asked = { ...own, start_timestamp: from * unit, end_timestamp: to * unit }
  return isAdmin ? { ...asked, channel_id, username } : asked
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
