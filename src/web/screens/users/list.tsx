import { IconBuildings, IconUsers } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { type User, userStatus } from '../../../contract/entities/user.ts'
import { useText } from '../../lib/i18n.ts'
import { useSession } from '../../lib/session.ts'
import { ListFrame } from '../../ui/list/list-frame.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { useListState } from '../../ui/list/list-state.ts'
import { HeadButton } from '../../ui/page/head-button.tsx'
import { Actions } from './actions.tsx'
import { useBulkActions } from './bulk-actions.tsx'
import { useColumns } from './columns.tsx'
import { searchOf, useFilters } from './filters.ts'
import { headTexts } from './head-texts.ts'
import { texts } from './texts.ts'

const TokensDialog = lazy(async () => ({ default: (await import('./tokens-dialog.tsx')).TokensDialog }))
const GroupDialog = lazy(async () => ({ default: (await import('./group-dialog.tsx')).GroupDialog }))

interface UserListProps {
  readonly onAdd: () => void
  readonly onEdit: (id: number) => void
  readonly onQuota: (user: User) => void
}

/** All users, with bulk actions. */
export function UserList({ onAdd, onEdit, onQuota }: UserListProps) {
  const say = useText(texts)
  const sayHead = useText(headTexts)
  const state = useListState({ keyword: '', group: '', role: 0, state: '' }, { sort: '-id' })
  const search = searchOf(state.asked)
  const { key: sort, descending } = state.sort ?? { key: 'id', descending: true }
  const list = useList('GET /api/user/search', { query: { ...search, ...state.paging, sort, ascending: !descending } })
  const edit = useEdit(onEdit)
  const navigate = useNavigate()
  // The sidebar leads to the organisations of a site that has some.
  const isWithout = useSession()?.organisations === undefined
  const [tokensOf, setTokensOf] = useState<User>()
  const [grouping, setGrouping] = useState<{ users: readonly User[]; done: () => void }>()

  return (
    <>
      <ListFrame
        name="users"
        title={sayHead('title')}
        description={sayHead('description')}
        state={state}
        {...list}
        columns={useColumns()}
        filters={useFilters()}
        isMuted={({ status, DeletedAt }) => status !== userStatus.active || DeletedAt !== null}
        rowActions={(user) => (
          <Actions user={user} onEdit={() => edit(user.id)} onQuota={() => onQuota(user)} onTokens={() => setTokensOf(user)} />
        )}
        bulkActions={useBulkActions({ onGroup: (users, done) => setGrouping({ users, done }) })}
        actions={
          isWithout && (
            <HeadButton
              label={sayHead('organisations')}
              icon={IconBuildings}
              onClick={() => void navigate({ to: '/organisations' })}
            />
          )
        }
        file={{ line: 'GET /api/user/export.csv', name: 'users.csv', query: search }}
        add={{ label: say('add'), onClick: onAdd }}
        empty={{ title: say('emptyTitle'), hint: say('emptyHint'), icon: <IconUsers /> }}
      />
      <Suspense>
        {tokensOf && <TokensDialog user={tokensOf} onClose={() => setTokensOf(undefined)} />}
        {grouping && <GroupDialog {...grouping} onClose={() => setGrouping(undefined)} />}
      </Suspense>
    </>
  )
}

/** The user's own account has a separate page, which requires the current password. */
function useEdit(openDrawer: (id: number) => void): (id: number) => void {
  const me = useSession()
  const navigate = useNavigate()
  return (id) => (id === me?.id ? void navigate({ to: '/user/edit' }) : openDrawer(id))
}
