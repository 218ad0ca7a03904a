import { Anchor, Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { ApiError } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { rememberUser } from '../../lib/session.ts'
import { entryTexts } from './entry-texts.ts'
import styles from './login.module.css'

const focus = (input: HTMLInputElement | null) => input?.focus()

/** The second step of a login: a code of the app, or a backup code. After a timeout the login starts again. */
export function SecondFactor({ onLeave, onDone }: { onLeave: () => void; onDone?: () => void }) {
  const say = useText(entryTexts)
  const form = useForm({
    initialValues: { code: '' },
    validate: { code: (text) => (text.trim() === '' ? say('codeMissing') : null) },
  })
  const enter = useWrite('POST /api/user/login/second', {
    success: say('success'),
    onSuccess: (user) => {
      rememberUser(user)
      onDone?.()
    },
    onFailure: (cause) => {
      if (!(cause instanceof ApiError)) return false
      if (cause.code === 'login_step_lost') onLeave()
      if (cause.code !== 'second_factor_wrong') return false
      form.setFieldError('code', cause.message)
      return true
    },
  })

  return (
    <form
      className={styles.form}
      onSubmit={form.onSubmit(({ code }) => enter.mutate({ body: { code: code.trim() } }))}
      noValidate
    >
      <Stack gap="md">
        <p className={styles.hint}>{say('secondHint')}</p>
        <TextInput
          label={say('code')}
          size="md"
          autoComplete="one-time-code"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={20}
          ref={focus}
          {...form.getInputProps('code')}
        />
        <Button type="submit" size="md" fullWidth loading={enter.isPending}>
          {say('secondSubmit')}
        </Button>
        <Anchor component="button" type="button" size="sm" ta="center" onClick={onLeave}>
          {say('back')}
        </Anchor>
      </Stack>
    </form>
  )
}

/** Whether a refusal means that the second step is due. */
export function needsSecondFactor(cause: unknown): boolean {
  return cause instanceof ApiError && cause.code === 'second_factor_required'
}
