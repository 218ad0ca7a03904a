import { IconUserCog, IconUserMinus, IconUsers } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import type { OrganisationMember } from '../../../contract/entities/organisation.ts'
import { organisationCallerLabels } from '../../../contract/organisation-roles.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { managesAll, type Payer } from '../../lib/payer.ts'
import { useWrite } from '../../lib/query.ts'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { useListState } from '../../ui/list/list-state.ts'
import { ListTable } from '../../ui/list/list-table.tsx'
import type { Column } from '../../ui/list/listing.ts'
import { actionIcon, type RowAction } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import shared from '../../ui/shared.module.css'
import { TimeText } from '../../ui/view/time-text.tsx'
import styles from './organisation.module.css'
import { texts } from './texts.ts'

const RoleForm = lazy(async () => ({ default: (await import('./role-form.tsx')).RoleForm }))
const Invitations = lazy(async () => ({ default: (await import('./invitations.tsx')).Invitations }))

/** Who belongs to the organisation, and for those who manage it the invitations. */
export function MembersTab({ payer }: { payer: Payer }) {
  const say = useText(texts)
  const state = useListState({ keyword: '' })
  const query = { ...state.query, team_id: 0 }
  const list = useList('GET /api/organisation/:id/members', { params: { id: payer.id }, query })
  const [changing, setChanging] = useState<OrganisationMember>()
  const isManager = managesAll(payer)
  return (
    <div className={styles.stack}>
      {isManager && (
        <Suspense>
          <Invitations payer={payer} />
        </Suspense>
      )}
      <ListTable
        label={say('tabMembers')}
        name="members"
        state={state}
        {...list}
        columns={useColumns()}
        filters={[{ kind: 'search', name: 'keyword', label: say('searchMembers') }]}
        {...(isManager
          ? { rowActions: (row: OrganisationMember) => <Actions payer={payer} row={row} onRole={() => setChanging(row)} /> }
          : {})}
        empty={{ title: say('tabMembers'), icon: <IconUsers /> }}
      />
      <SideDrawer
        subject={changing}
        title={({ username: name }) => say('roleOf', { name })}
        onClose={() => setChanging(undefined)}
      >
        {(member) => <RoleForm payer={payer} member={member} onDone={() => setChanging(undefined)} />}
      </SideDrawer>
    </div>
  )
}

function useColumns(): Column<OrganisationMember>[] {
  const say = useText(texts)
  const local = useLocal()
  return [
    {
      key: 'member',
      title: say('member'),
      heads: true,
      cell: ({ username, display_name: shown }) => (
        <span className={shared.stacked}>
          <span className={shared.name}>{username}</span>
          {shown !== '' && shown !== username && <small className={shared.note}>{shown}</small>}
        </span>
      ),
    },
    { key: 'role', inCard: 'state', title: say('memberRole'), cell: ({ role }) => local(organisationCallerLabels[role]) },
    {
      key: 'teams',
      title: say('teams'),
      hideable: true,
      cell: ({ teams }) =>
        teams.length === 0
          ? null
          : teams.map(({ name, is_manager }) => (is_manager ? say('managerOf', { team: name }) : name)).join(', '),
    },
    { key: 'tokens', inCard: 'figure', title: say('tokens'), align: 'right', cell: ({ tokens }) => tokens },
    {
      key: 'joined',
      inCard: 'figure',
      title: say('joined'),
      hideable: true,
      cell: ({ created_at }) => <TimeText seconds={created_at} />,
    },
    { key: 'inviter', title: say('invitedBy'), hideable: true, cell: ({ invited_by: name }) => name || null },
  ]
}

interface ActionsProps {
  readonly payer: Payer
  readonly row: OrganisationMember
  readonly onRole: () => void
}

/** Only owners change and remove owners. */
function Actions({ payer, row, onRole }: ActionsProps) {
  const say = useText(texts)
  const { id: member, username: name } = row
  const remove = useWrite('DELETE /api/organisation/:id/members/:member', {
    invalidates: ['GET /api/organisation/:id/members', 'GET /api/organisation/:id'],
    success: say('removed', { name }),
  })
  const mayChange = row.role !== 'owner' || payer.role !== 'admin'
  const actions: RowAction[] = [
    { label: say('changeRole'), icon: <IconUserCog {...actionIcon} />, primary: true, onClick: onRole },
    {
      label: say('remove'),
      icon: <IconUserMinus {...actionIcon} />,
      danger: true,
      disabled: remove.isPending,
      ask: { title: say('removeTitle'), object: name, body: say('removeBody') },
      onClick: () => remove.mutate({ params: { id: payer.id, member } }),
    },
  ]
  return <RowActions name={name} actions={mayChange && member !== payer.member_id ? actions : []} />
}
