import { Button, Select, Switch } from '@mantine/core'
import { IconUserMinus } from '@tabler/icons-react'
import { useState } from 'react'
import type { OrganisationMember, Team } from '../../../contract/entities/organisation.ts'
import { useText } from '../../lib/i18n.ts'
import { usePageSize } from '../../lib/page-size.ts'
import type { Payer } from '../../lib/payer.ts'
import { useMembers } from '../../lib/places.ts'
import { useWrite } from '../../lib/query.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { DataTable } from '../../ui/list/data-table.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { actionIcon } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import shared from '../../ui/shared.module.css'
import styles from './organisation.module.css'
import { texts } from './texts.ts'

const stale = ['GET /api/organisation/:id/members', 'GET /api/organisation/:id/teams'] as const

/** Who is in a team, and who manages it. */
export function TeamMembers({ payer, team, onClose }: { payer: Payer; team: Team; onClose: () => void }) {
  const say = useText(texts)
  const [page, setPage] = useState(1)
  const query = { p: page, page_size: usePageSize(), team_id: team.id }
  const list = useList('GET /api/organisation/:id/members', { params: { id: payer.id }, query })
  const put = useWrite('PUT /api/organisation/:id/teams/members', { invalidates: stale })
  const remove = useWrite('DELETE /api/organisation/:id/teams/:team/members/:member', { invalidates: stale })
  const title = say('teamMembersOf', { name: team.name })
  const takeOut = ({ id: member, username }: OrganisationMember) => {
    const onClick = () => remove.mutate({ params: { id: payer.id, team: team.id, member } })
    return (
      <RowActions
        name={username}
        actions={[{ label: say('takeOut'), icon: <IconUserMinus {...actionIcon} />, primary: true, onClick }]}
      />
    )
  }
  return (
    <Dialog title={title} size="lg" onClose={onClose}>
      <div className={styles.stack}>
        {team.may_manage && <AddMember payer={payer} team={team} />}
        <DataTable
          label={title}
          dense
          {...list}
          page={page}
          onPage={setPage}
          rowKey={({ id }) => id}
          columns={[
            { key: 'member', title: say('member'), cell: ({ username }) => <span className={shared.name}>{username}</span> },
            {
              key: 'manager',
              title: say('manager'),
              cell: ({ id: member_id, username, teams }) => (
                <Switch
                  aria-label={`${say('manager')}: ${username}`}
                  disabled={!team.may_manage || put.isPending}
                  checked={teams.some((each) => each.id === team.id && each.is_manager)}
                  onChange={(event) =>
                    put.mutate({
                      params: { id: payer.id },
                      body: { team_id: team.id, member_id, is_manager: event.currentTarget.checked },
                    })
                  }
                />
              ),
            },
          ]}
          {...(team.may_manage ? { rowActions: takeOut } : {})}
          empty={{ title: say('nobodyInTeam') }}
        />
      </div>
    </Dialog>
  )
}

function AddMember({ payer, team }: { payer: Payer; team: Team }) {
  const say = useText(texts)
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState<string | null>(null)
  const members = useMembers(payer.id, typed).filter(({ teams }) => !teams.some(({ id }) => id === team.id))
  const add = useWrite('PUT /api/organisation/:id/teams/members', { invalidates: stale, onSuccess: () => setChosen(null) })
  return (
    <div className={styles.line}>
      <Select
        label={say('addMember')}
        searchable
        data={members.map(({ id, username }) => ({ value: String(id), label: username }))}
        filter={({ options }) => options}
        value={chosen}
        onChange={setChosen}
        onSearchChange={setTyped}
      />
      <Button
        variant="default"
        disabled={chosen === null}
        loading={add.isPending}
        onClick={() => add.mutate({ params: { id: payer.id }, body: { team_id: team.id, member_id: Number(chosen) } })}
      >
        {say('add')}
      </Button>
    </div>
  )
}
