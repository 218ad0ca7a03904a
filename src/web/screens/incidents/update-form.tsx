import { useForm } from '@mantine/form'
import {
  type AdminIncident,
  type IncidentUpdateInput,
  incidentStateLabels,
  incidentUpdateFields,
} from '../../../contract/entities/incident.ts'
import { blankFaults } from '../../../contract/fields.ts'
import { localOf, useLocal, useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { formatTime } from '../../lib/times.ts'
import { DrawerForm } from '../../ui/dialog/drawer-form.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { Facts } from '../../ui/page/facts.tsx'
import { incidentLines } from './lines.ts'
import { texts } from './texts.ts'

/** The form of an update of an incident, above the updates that were published before. */
export function UpdateForm({ incident, onDone }: { incident: AdminIncident; onDone: () => void }) {
  const say = useText(texts)
  const local = useLocal()
  const { id, kind, state, updates } = incident
  const fields = incidentUpdateFields(kind)
  const form = useForm<IncidentUpdateInput>({
    initialValues: { state, message: '' },
    validate: (values) => blankFaults(fields, values, localOf),
  })
  const publish = useWrite('POST /api/incident/:id/update', {
    invalidates: incidentLines,
    success: say('published'),
    onSuccess: onDone,
  })
  return (
    <DrawerForm
      busy={publish.isPending}
      dirty={form.isDirty()}
      submitLabel={say('publishUpdate')}
      onSubmit={form.onSubmit((body) => publish.mutate({ params: { id }, body }))}
    >
      <FieldsForm fields={fields} form={form} />
      <section aria-label={say('history')}>
        <Facts
          facts={updates.map((update) => ({
            label: `${formatTime(update.created_at).slice(0, 16)} · ${local(incidentStateLabels[update.state])}`,
            value: update.message,
          }))}
        />
      </section>
    </DrawerForm>
  )
}
