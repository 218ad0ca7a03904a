import { useForm } from '@mantine/form'
import { newUserFields } from '../../../contract/entities/user.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { DrawerForm } from '../../ui/dialog/drawer-form.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { faultsOf } from './form-faults.ts'
import { showAtField } from './refusals.ts'
import { texts } from './texts.ts'

/** The form of a new ordinary user. */
export function AddForm({ onDone }: { onDone: () => void }) {
  const say = useText(texts)
  const form = useForm({
    initialValues: { username: '', display_name: '', password: '' },
    validate: (values) => faultsOf(newUserFields, values),
  })
  const save = useWrite('POST /api/user/', {
    invalidates: ['GET /api/user/search'],
    success: say('userCreated'),
    onSuccess: onDone,
    onFailure: (cause) => showAtField(cause, form.setFieldError),
  })

  return (
    <DrawerForm busy={save.isPending} dirty={form.isDirty()} onSubmit={form.onSubmit((body) => save.mutate({ body }))}>
      <FieldsForm fields={newUserFields} form={form} inputs={{ username: { isFirst: true } }} />
    </DrawerForm>
  )
}
