import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { type Organisation, organisationFields } from '../../../contract/entities/organisation.ts'
import { blankFaults } from '../../../contract/fields.ts'
import { localOf, useText } from '../../lib/i18n.ts'
import { rememberPayer } from '../../lib/payer.ts'
import { useWrite } from '../../lib/query.ts'
import { DrawerForm } from '../../ui/dialog/drawer-form.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { texts } from './texts.ts'

const { name: nameField } = organisationFields
const fields = { name: nameField }

/** What an owner changes of the organisation itself. */
export function RenameForm({ organisation, onDone }: { organisation: Organisation; onDone: () => void }) {
  const say = useText(texts)
  const client = useQueryClient()
  const form = useForm({
    initialValues: { name: organisation.name },
    validate: (values) => blankFaults(fields, values, localOf),
  })
  const save = useWrite('PUT /api/organisation/:id', {
    invalidates: ['GET /api/organisation/:id', 'GET /api/organisation/'],
    success: say('saved'),
    onSuccess: (saved) => {
      rememberPayer(saved)
      void client.invalidateQueries({ queryKey: ['payer'] })
      onDone()
    },
  })
  return (
    <DrawerForm
      busy={save.isPending}
      dirty={form.isDirty()}
      onSubmit={form.onSubmit(({ name }) => save.mutate({ params: { id: organisation.id }, body: { name: name.trim() } }))}
    >
      <FieldsForm fields={fields} form={form} inputs={{ name: { isFirst: true } }} />
    </DrawerForm>
  )
}
