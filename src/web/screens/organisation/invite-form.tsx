import { useForm } from '@mantine/form'
import { invitationFields, organisationLimits } from '../../../contract/entities/organisation.ts'
import type { OrganisationRole } from '../../../contract/organisation-roles.ts'
import { ApiError } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import type { Payer } from '../../lib/payer.ts'
import { teamChoices, useTeams } from '../../lib/places.ts'
import { useWrite } from '../../lib/query.ts'
import { DrawerForm } from '../../ui/dialog/drawer-form.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { showInvitation } from './show-invitation.tsx'
import { texts } from './texts.ts'
import { useRoleChoices } from './use-role-choices.ts'

interface Values {
  email: string
  role: OrganisationRole
  team_id: string
  days: number | string
}

const newInvitation: Values = { email: '', role: 'member', team_id: '0', days: organisationLimits.invitationDays }

export function InviteForm({ payer, onDone }: { payer: Payer; onDone: () => void }) {
  const say = useText(texts)
  const teams = teamChoices(useTeams(payer.id))
  const form = useForm<Values>({
    initialValues: newInvitation,
    validate: { days: (typed) => !(Number(typed) >= 1 && Number(typed) <= 90) && say('daysInvalid') },
  })
  const invite = useWrite('POST /api/organisation/:id/invitations', {
    invalidates: ['GET /api/organisation/:id/invitations'],
    onSuccess: (sent) => {
      onDone()
      showInvitation(sent)
    },
    onFailure: (cause) => {
      if (!(cause instanceof ApiError) || cause.code !== 'email_invalid') return false
      form.setFieldError('email', cause.message)
      return true
    },
  })
  const submit = form.onSubmit(({ email, role, team_id, days }) =>
    invite.mutate({
      params: { id: payer.id },
      body: { email: email.trim(), role, team_id: Number(team_id), days: Number(days) },
    }),
  )
  return (
    <DrawerForm busy={invite.isPending} dirty={form.isDirty()} submitLabel={say('invite')} onSubmit={submit}>
      <FieldsForm
        fields={invitationFields}
        form={form}
        inputs={{
          email: { isFirst: true },
          role: { data: useRoleChoices(payer) },
          team_id: { data: [{ value: '0', label: say('noTeam') }, ...teams] },
        }}
      />
    </DrawerForm>
  )
}
