import { useForm } from '@mantine/form'
import { type SignOn, signOnFields } from '../../../contract/entities/sign-on.ts'
import { blankFaults } from '../../../contract/fields.ts'
import { localOf, useText } from '../../lib/i18n.ts'
import type { Payer } from '../../lib/payer.ts'
import { useWrite } from '../../lib/query.ts'
import { DrawerForm } from '../../ui/dialog/drawer-form.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { signOnTexts } from './sign-on-texts.ts'

interface SignOnFormProps {
  readonly payer: Payer
  readonly saved: SignOn
  readonly onDone: () => void
}

/** The OpenID provider of an organisation. */
export function SignOnForm({ payer, saved, onDone }: SignOnFormProps) {
  const say = useText(signOnTexts)
  const { issuer, client_id, group_claim, creates_accounts, is_only_way, is_enabled, has_secret } = saved
  const form = useForm({
    initialValues: { issuer, client_id, client_secret: '', group_claim, creates_accounts, is_only_way, is_enabled },
    validate: (values) => blankFaults(signOnFields, values, localOf),
  })
  const save = useWrite('PUT /api/organisation/:id/sign-on', {
    invalidates: ['GET /api/organisation/:id/sign-on'],
    success: say('saved'),
    onSuccess: onDone,
  })
  const submit = form.onSubmit(({ client_secret: secret, ...values }) => {
    save.mutate({ params: { id: payer.id }, body: { ...values, ...(secret === '' ? {} : { client_secret: secret }) } })
  })
  return (
    <DrawerForm busy={save.isPending} dirty={form.isDirty()} onSubmit={submit}>
      <FieldsForm
        fields={signOnFields}
        form={form}
        inputs={{ issuer: { isFirst: true }, ...(has_secret ? { client_secret: { placeholder: say('keepSecret') } } : {}) }}
      />
    </DrawerForm>
  )
}
