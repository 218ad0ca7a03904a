import { Button } from '@mantine/core'
import { IconMail, IconMailForward, IconMailOff, IconUserPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, useState } from 'react'
import { type Invitation, invitationAnswerLabels } from '../../../contract/entities/organisation.ts'
import { organisationCallerLabels } from '../../../contract/organisation-roles.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import type { Payer } from '../../lib/payer.ts'
import { read, useWrite } from '../../lib/query.ts'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import { DataTable } from '../../ui/list/data-table.tsx'
import { loadingOf, usePages } from '../../ui/list/list-rows.ts'
import type { Column } from '../../ui/list/listing.ts'
import { actionIcon, type RowAction } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { StatusTag } from '../../ui/view/status-tag.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import { showInvitation } from './show-invitation.tsx'
import { texts } from './texts.ts'

const InviteForm = lazy(async () => ({ default: (await import('./invite-form.tsx')).InviteForm }))

/** Those that were invited, and the form to invite others. */
export function Invitations({ payer }: { payer: Payer }) {
  const say = useText(texts)
  const [inviting, setInviting] = useState<Payer>()
  const found = useQuery(read('GET /api/organisation/:id/invitations', { params: { id: payer.id } }))
  const pages = usePages(found.data)
  return (
    <Panel
      title={say('invitations')}
      aside={
        <Button leftSection={<IconUserPlus size={16} />} onClick={() => setInviting(payer)}>
          {say('invite')}
        </Button>
      }
    >
      <DataTable
        label={say('invitations')}
        dense
        {...pages}
        {...loadingOf(found)}
        rowKey={({ id }) => id}
        columns={useColumns()}
        rowActions={(row) => <Actions payer={payer} row={row} />}
        empty={{ title: say('noInvitations'), hint: say('noInvitationsHint'), icon: <IconMail /> }}
      />
      <SideDrawer subject={inviting} title={() => say('inviteTitle')} onClose={() => setInviting(undefined)}>
        {() => <InviteForm payer={payer} onDone={() => setInviting(undefined)} />}
      </SideDrawer>
    </Panel>
  )
}

function useColumns(): Column<Invitation>[] {
  const say = useText(texts)
  const local = useLocal()
  return [
    { key: 'email', title: say('invitee'), heads: true, cell: ({ email }) => email || say('byLink') },
    {
      key: 'state',
      inCard: 'state',
      title: say('invitationState'),
      cell: ({ answer }) => <StatusTag state={invitationAnswerLabels[answer]} />,
    },
    { key: 'role', inCard: 'figure', title: say('memberRole'), cell: ({ role }) => local(organisationCallerLabels[role]) },
    { key: 'team', title: say('team'), cell: ({ team_name: name }) => name || null },
    { key: 'inviter', title: say('invitedBy'), cell: ({ invited_by: name }) => name || null },
    { key: 'expires', inCard: 'figure', title: say('expires'), cell: ({ expires_at: at }) => <TimeText seconds={at} /> },
  ]
}

function Actions({ payer: { id }, row }: { payer: Payer; row: Invitation }) {
  const say = useText(texts)
  const invalidates = ['GET /api/organisation/:id/invitations'] as const
  const resend = useWrite('PUT /api/organisation/:id/invitations', { invalidates, onSuccess: showInvitation })
  const withdraw = useWrite('DELETE /api/organisation/:id/invitations/:invitation', { invalidates, success: say('withdrawn') })
  const name = row.email || say('byLink')
  const actions: RowAction[] = [
    {
      label: say('resend'),
      icon: <IconMailForward {...actionIcon} />,
      primary: true,
      busy: resend.isPending,
      onClick: () => resend.mutate({ params: { id }, body: { invitation_id: row.id } }),
    },
    {
      label: say('withdraw'),
      icon: <IconMailOff {...actionIcon} />,
      danger: true,
      primary: true,
      ask: { title: say('withdrawTitle'), object: name, body: say('withdrawBody') },
      onClick: () => withdraw.mutate({ params: { id, invitation: row.id } }),
    },
  ]
  const isOpen = row.answer === '' || row.answer === 'expired'
  return <RowActions name={name} actions={isOpen ? actions : []} />
}
