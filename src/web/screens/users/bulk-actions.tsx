import type { User, UserBatch } from '../../../contract/entities/user.ts'
import { textOf, useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { toast } from '../../lib/toast.ts'
import { showDialog } from '../../ui/dialog/dialogs.tsx'
import type { Action } from '../../ui/list/row-action.ts'
import { texts } from './texts.ts'
import styles from './users.module.css'

/** Bulk actions on users. */
export function useBulkActions({ onGroup }: { onGroup: (users: readonly User[], done: () => void) => void }) {
  const say = useText(texts)
  const { change, isPending: disabled } = useUserBatch()

  return (users: readonly User[], done: () => void): Action[] => {
    const count = users.length
    const run = (action: 'enable' | 'disable' | 'delete') => () => change(users, { action }, done)
    return [
      { label: say('enable'), disabled, onClick: run('enable') },
      {
        label: say('disable'),
        disabled,
        ask: { title: say('bulkDisableTitle', { count }), body: say('disableBody') },
        onClick: run('disable'),
      },
      { label: say('bulkGroup'), disabled, onClick: () => onGroup(users, done) },
      {
        label: say('remove'),
        danger: true,
        disabled,
        ask: { title: say('bulkRemoveTitle', { count }), body: say('removeBody') },
        onClick: run('delete'),
      },
    ]
  }
}

/** Changes several users, and shows the result for each if some failed. */
export function useUserBatch() {
  const say = useText(texts)
  const batch = useWrite('POST /api/user/batch', { invalidates: ['GET /api/user/search'] })

  function change(users: readonly User[], edit: Pick<UserBatch, 'action'> & { group?: string }, done: () => void): void {
    batch.mutate(
      { body: { ids: users.map(({ id }) => id), ...edit } },
      {
        onSuccess(results) {
          const changed = results.filter((result) => result.done).length
          if (changed === results.length) toast.success(say('bulkDone', { count: changed }))
          else showResults(users, results)
          done()
        },
      },
    )
  }
  return { change, isPending: batch.isPending }
}

type Results = readonly { readonly id: number; readonly done: boolean; readonly message: string }[]

function showResults(users: readonly User[], results: Results): void {
  const count = results.filter(({ done }) => done).length
  void showDialog({
    title: textOf(texts, 'bulkPartly', { count, all: results.length }),
    body: (
      <ul className={styles.results}>
        {results.map(({ id, done, message }) => (
          <li key={id} data-done={done}>
            <strong>
              #{id} {users.find((user) => user.id === id)?.username}
            </strong>
            <span>{done ? textOf(texts, 'bulkChanged') : message}</span>
          </li>
        ))}
      </ul>
    ),
    cancelLabel: textOf(texts, 'bulkClose'),
  })
}
