import { Button } from '@mantine/core'
import { IconHierarchy2, IconPencil, IconPlus, IconSitemap, IconUsers } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type CSSProperties, lazy, Suspense, useState } from 'react'
import { organisationLimits, type Team } from '../../../contract/entities/organisation.ts'
import { useText } from '../../lib/i18n.ts'
import { managesAll, type Payer } from '../../lib/payer.ts'
import { read, useWrite } from '../../lib/query.ts'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import { DataTable } from '../../ui/list/data-table.tsx'
import { loadingOf } from '../../ui/list/list-rows.ts'
import { actionIcon, type RowAction } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { deleteAction } from '../../ui/list/row-common-actions.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import styles from './organisation.module.css'
import { texts } from './texts.ts'

const TeamForm = lazy(async () => ({ default: (await import('./team-form.tsx')).TeamForm }))
const TeamMembers = lazy(async () => ({ default: (await import('./team-members.tsx')).TeamMembers }))

type Drawer = { readonly team: Team } | { readonly below: number }

/** The teams as a tree, with members and managers. */
export function TeamsTab({ payer }: { payer: Payer }) {
  const say = useText(texts)
  const found = useQuery(read('GET /api/organisation/:id/teams', { params: { id: payer.id } }))
  const [drawer, setDrawer] = useState<Drawer>()
  const [membersOf, setMembersOf] = useState<Team>()
  const levels = levelsOf(found.data ?? [])
  const add = managesAll(payer) && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setDrawer({ below: 0 })}>
      {say(found.data?.length === 0 ? 'teamFirst' : 'teamAdd')}
    </Button>
  )
  return (
    <Panel title={say('tabTeams')} description={say('teamNoneHint')} aside={found.data?.length === 0 ? undefined : add}>
      <DataTable
        label={say('tabTeams')}
        rows={found.data}
        {...loadingOf(found)}
        rowKey={({ id }) => id}
        columns={[
          {
            key: 'name',
            title: say('team'),
            heads: true,
            cell: ({ id, name }) => <Name name={name} level={levels.get(id) ?? 0} />,
          },
          { key: 'members', inCard: 'figure', title: say('teamMembers'), align: 'right', cell: ({ members }) => members },
          { key: 'tokens', inCard: 'figure', title: say('tokens'), align: 'right', cell: ({ tokens }) => tokens },
        ]}
        rowActions={(team) => (
          <Actions
            payer={payer}
            team={team}
            isLowest={(levels.get(team.id) ?? 0) + 1 >= organisationLimits.teamDepthMax}
            onOpen={setDrawer}
            onMembers={() => setMembersOf(team)}
          />
        )}
        empty={{ title: say('teamNone'), hint: say('teamNoneHint'), icon: <IconSitemap />, action: add || undefined }}
      />
      <SideDrawer
        subject={drawer}
        title={(shown) => say('team' in shown ? 'teamEdit' : 'teamAdd')}
        onClose={() => setDrawer(undefined)}
      >
        {(shown) => <TeamForm payer={payer} subject={shown} onDone={() => setDrawer(undefined)} />}
      </SideDrawer>
      {membersOf && (
        <Suspense>
          <TeamMembers payer={payer} team={membersOf} onClose={() => setMembersOf(undefined)} />
        </Suspense>
      )}
    </Panel>
  )
}

/** How deep each team is; a team comes after the one that it is a part of. */
function levelsOf(teams: readonly Team[]): Map<number, number> {
  const levels = new Map<number, number>()
  for (const { id, parent_id } of teams) levels.set(id, (levels.get(parent_id) ?? -1) + 1)
  return levels
}

function Name({ name, level }: { name: string; level: number }) {
  return (
    <span className={`${styles.level} ${shared.name}`} style={{ '--level': level } as CSSProperties}>
      {name}
    </span>
  )
}

interface ActionsProps {
  readonly payer: Payer
  readonly team: Team
  readonly isLowest: boolean
  readonly onOpen: (drawer: Drawer) => void
  readonly onMembers: () => void
}

function Actions({ payer, team, isLowest, onOpen, onMembers }: ActionsProps) {
  const say = useText(texts)
  const { id, name } = team
  const close = useWrite('DELETE /api/organisation/:id/teams/:team', {
    invalidates: ['GET /api/organisation/:id/teams', 'GET /api/organisation/:id/members'],
    success: say('teamClosed', { name }),
  })
  const members: RowAction = {
    label: say('teamMembers'),
    icon: <IconUsers {...actionIcon} />,
    primary: true,
    onClick: onMembers,
  }
  if (!team.may_manage) return <RowActions name={name} actions={[members]} />
  const closing = { delete: say('teamClose'), deleteTitle: say('teamCloseTitle'), deleteBody: say('teamCloseBody') }
  return (
    <RowActions
      name={name}
      actions={[
        members,
        { label: say('teamEdit'), icon: <IconPencil {...actionIcon} />, primary: true, onClick: () => onOpen({ team }) },
        ...(isLowest
          ? []
          : [{ label: say('teamSub'), icon: <IconHierarchy2 {...actionIcon} />, onClick: () => onOpen({ below: id }) }]),
        deleteAction((text) => closing[text], {
          object: name,
          onClick: () => close.mutate({ params: { id: payer.id, team: id } }),
        }),
      ]}
    />
  )
}
