import { Anchor, Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link, Navigate, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { passwordLength, usernameLengthMax } from '../../../contract/entities/user.ts'
import { ApiError } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import { useAfterEntry } from '../../lib/invitation.ts'
import { inviteCode } from '../../lib/invite.ts'
import { useWrite } from '../../lib/query.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { rememberUser, useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { useHumanCheck } from '../../ui/account/human-check.tsx'
import { MailCodeField } from '../../ui/account/mail-code-field.tsx'
import { PasswordField } from '../../ui/form/password-field.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import { EntryCard } from './entry-card.tsx'
import { entryTexts } from './entry-texts.ts'
import styles from './login.module.css'
import { SecondFactor } from './second-factor.tsx'
import { texts } from './texts.ts'
import { ThirdParty } from './third-party.tsx'

export function Screen() {
  const say = useText(texts)
  const user = useSession()
  const { system_name: name, register_enabled: open, password_register_enabled: withPassword } = useStatus()
  const sayEntry = useText(entryTexts)
  const [half, setHalf] = useState(false)
  useInvite()
  const next = useAfterEntry()
  if (user) return <Navigate {...next} />

  if (half) {
    return (
      <EntryCard title={sayEntry('secondTitle')}>
        <SecondFactor onLeave={() => setHalf(false)} />
      </EntryCard>
    )
  }

  return (
    <EntryCard
      title={say('registerTitle', { name })}
      links={
        <Anchor component={Link} to="/login">
          {say('toLogin')}
        </Anchor>
      }
    >
      {!open ? (
        <Notice kind="warn">{say('registrationClosed')}</Notice>
      ) : withPassword ? (
        <RegisterForm />
      ) : (
        <Notice kind="warn">{say('passwordRegisterOff')}</Notice>
      )}
      {open && <ThirdParty withPasskey={false} onSecondFactor={() => setHalf(true)} />}
    </EntryCard>
  )
}

/** The code of an invite link is stored: the account may be created on another page, or with a third-party login. */
function useInvite(): void {
  const { values } = useUrlState({ aff: '' })
  const [kept, setKept] = useState('')
  if (values.aff === '' || values.aff === kept) return
  setKept(values.aff)
  inviteCode.write(values.aff)
}

const focus = (input: HTMLInputElement | null) => input?.focus()

/** The form field of each error code of the server. */
const fieldOfRefusal: Readonly<Record<string, string>> = {
  username_taken: 'username',
  username_length: 'username',
  username_characters: 'username',
  password_length: 'password',
  password_weak: 'password',
  passwords_differ: 'password2',
  email_invalid: 'email',
  email_taken: 'email',
  email_domain_refused: 'email',
  email_alias_refused: 'email',
  code_wrong: 'verification_code',
}

function RegisterForm() {
  const say = useText(texts)
  const navigate = useNavigate()
  const human = useHumanCheck('register')
  const { email_verification: withEmail, turnstile_check: checked } = useStatus()
  const form = useForm({
    initialValues: {
      username: '',
      password: '',
      password2: '',
      email: '',
      verification_code: '',
      aff_code: inviteCode.read(),
    },
    validate: {
      username: (text) =>
        text.trim() === '' ? say('usernameRequired') : [...text.trim()].length > usernameLengthMax && say('usernameLong'),
      password: (text) =>
        [...text].length < passwordLength.min
          ? say('passwordShort')
          : [...text].length > passwordLength.max && say('passwordLong'),
      password2: (text, { password }) => text !== password && say('passwordsDiffer'),
      email: (text) => withEmail && text.trim() === '' && say('emailRequired'),
      verification_code: (text) => withEmail && text.trim() === '' && say('codeRequired'),
    },
  })
  const logIn = useWrite('POST /api/user/login', {
    onSuccess: rememberUser,
    onFailure: () => {
      void navigate({ to: '/login' })
      return true
    },
  })
  const register = useWrite('POST /api/user/register', {
    success: say('registered'),
    onSuccess: (_none, { body: { username, password } }) => {
      inviteCode.write(undefined)
      // The human check is for one call: whoever has passed it logs in with another.
      if (checked) void navigate({ to: '/login' })
      else logIn.mutate({ query: {}, body: { username, password } })
    },
    onFailure: (cause) => {
      const field = cause instanceof ApiError ? fieldOfRefusal[cause.code] : undefined
      if (field === undefined || !(cause instanceof ApiError)) return false
      form.setFieldError(field, cause.message)
      return true
    },
  })

  function submit(body: typeof form.values): void {
    const turnstile = human.take()
    if (turnstile !== undefined) register.mutate({ query: { turnstile }, body: { ...body, username: body.username.trim() } })
  }

  return (
    <form className={styles.form} onSubmit={form.onSubmit(submit)} noValidate>
      <Stack gap="md">
        <TextInput
          label={say('name')}
          description={say('nameHint')}
          size="md"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          ref={focus}
          {...form.getInputProps('username')}
        />
        <PasswordField
          label={say('password')}
          description={say('passwordHint')}
          size="md"
          autoComplete="new-password"
          {...form.getInputProps('password')}
        />
        <PasswordField label={say('password2')} size="md" autoComplete="new-password" {...form.getInputProps('password2')} />
        {withEmail && (
          <>
            <TextInput label={say('email')} size="md" type="email" autoComplete="email" {...form.getInputProps('email')} />
            <MailCodeField
              email={form.values.email}
              purpose="register"
              human={human}
              size="md"
              {...form.getInputProps('verification_code')}
            />
          </>
        )}
        <TextInput label={say('invite')} size="md" autoComplete="off" maxLength={100} {...form.getInputProps('aff_code')} />
        {human.widget}
        <Button type="submit" size="md" fullWidth loading={register.isPending || logIn.isPending}>
          {say('registerSubmit')}
        </Button>
      </Stack>
    </form>
  )
}
