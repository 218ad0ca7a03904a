import { useForm } from '@mantine/form'
import {
  type Destination,
  destinationSettings,
  type OrganisationWebhookInput,
  organisationWebhookFields,
} from '../../../contract/entities/destination.ts'
import { blankFaults } from '../../../contract/fields.ts'
import { localOf, useText } from '../../lib/i18n.ts'
import type { Payer } from '../../lib/payer.ts'
import { useWrite } from '../../lib/query.ts'
import { DrawerForm } from '../../ui/dialog/drawer-form.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { webhookTexts } from './webhook-texts.ts'

interface WebhookFormProps {
  readonly payer: Payer
  readonly saved: Destination | undefined
  readonly onDone: () => void
}

/** The form of a new or a saved webhook; a secret that is left blank stays. */
export function WebhookForm({ payer, saved, onDone }: WebhookFormProps) {
  const say = useText(webhookTexts)
  const { secret = organisationWebhookFields.secret } = destinationSettings('webhook', saved?.has)
  const fields = { ...organisationWebhookFields, secret }
  const form = useForm<OrganisationWebhookInput>({
    initialValues: valuesOf(saved),
    validate: (values) => blankFaults(fields, values, localOf),
  })
  const written = {
    invalidates: ['GET /api/organisation/:id/webhooks'],
    success: ({ name }: Destination) => say('saved', { name }),
    onSuccess: onDone,
  } as const
  const create = useWrite('POST /api/organisation/:id/webhooks', written)
  const change = useWrite('PUT /api/organisation/:id/webhooks/:webhook', written)
  const submit = form.onSubmit((body) => {
    if (saved) change.mutate({ params: { id: payer.id, webhook: saved.id }, body })
    else create.mutate({ params: { id: payer.id }, body })
  })
  return (
    <DrawerForm busy={create.isPending || change.isPending} dirty={form.isDirty()} onSubmit={submit}>
      <FieldsForm fields={fields} form={form} inputs={{ name: { isFirst: true } }} />
    </DrawerForm>
  )
}

function valuesOf(saved: Destination | undefined): OrganisationWebhookInput {
  const choices = organisationWebhookFields.events.choices.map(({ value }) => value)
  return {
    name: saved?.name ?? '',
    url: saved?.settings.url ?? '',
    secret: '',
    events: saved ? choices.filter((type) => saved.events.includes(type)) : choices,
  }
}
