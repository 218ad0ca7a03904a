import { TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { displayNameLengthMax, passwordLength, usernameLengthMax } from '../../../contract/entities/user.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { DrawerForm } from '../../ui/dialog/drawer-form.tsx'
import { PasswordField } from '../../ui/form/password-field.tsx'
import { showAtField } from './refusals.ts'
import { texts } from './texts.ts'

/** The form of a new ordinary user. */
export function AddForm({ onDone }: { onDone: () => void }) {
  const say = useText(texts)
  const form = useForm({
    initialValues: { username: '', display_name: '', password: '' },
    validate: {
      username: (text) =>
        text.trim() === '' ? say('required') : [...text.trim()].length > usernameLengthMax && say('usernameLong'),
      display_name: (text) => [...text.trim()].length > displayNameLengthMax && say('displayNameLong'),
      password: (text) =>
        text === ''
          ? say('required')
          : ([...text].length < passwordLength.min || [...text].length > passwordLength.max) && say('passwordLength'),
    },
  })
  const save = useWrite('POST /api/user/', {
    invalidates: ['GET /api/user/search'],
    success: say('userCreated'),
    onSuccess: onDone,
    onFailure: (cause) => showAtField(cause, form.setFieldError),
  })

  return (
    <DrawerForm busy={save.isPending} dirty={form.isDirty()} onSubmit={form.onSubmit((body) => save.mutate({ body }))}>
      <TextInput
        autoFocus
        data-autofocus
        label={say('username')}
        withAsterisk
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        {...form.getInputProps('username')}
      />
      <TextInput
        label={say('displayName')}
        description={say('displayNameHint')}
        autoComplete="off"
        {...form.getInputProps('display_name')}
      />
      <PasswordField
        label={say('password')}
        description={say('passwordHint')}
        withAsterisk
        autoComplete="new-password"
        {...form.getInputProps('password')}
      />
    </DrawerForm>
  )
}
