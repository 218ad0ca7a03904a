import { useForm } from '@mantine/form'
import { memberRoleFields, type OrganisationMember } from '../../../contract/entities/organisation.ts'
import type { OrganisationRole } from '../../../contract/organisation-roles.ts'
import { useText } from '../../lib/i18n.ts'
import type { Payer } from '../../lib/payer.ts'
import { useWrite } from '../../lib/query.ts'
import { DrawerForm } from '../../ui/dialog/drawer-form.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { texts } from './texts.ts'
import { useRoleChoices } from './use-role-choices.ts'

export function RoleForm({ payer, member, onDone }: { payer: Payer; member: OrganisationMember; onDone: () => void }) {
  const say = useText(texts)
  const form = useForm<{ role: OrganisationRole }>({ initialValues: { role: member.role } })
  const save = useWrite('PUT /api/organisation/:id/members', {
    invalidates: ['GET /api/organisation/:id/members'],
    success: say('roleSaved'),
    onSuccess: onDone,
  })
  const submit = form.onSubmit(({ role }) => save.mutate({ params: { id: payer.id }, body: { member_id: member.id, role } }))
  return (
    <DrawerForm busy={save.isPending} dirty={form.isDirty()} onSubmit={submit}>
      <FieldsForm fields={memberRoleFields} form={form} inputs={{ role: { data: useRoleChoices(payer) } }} />
    </DrawerForm>
  )
}
