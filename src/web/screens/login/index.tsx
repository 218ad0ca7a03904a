import { Anchor, Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link, Navigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { useAfterEntry } from '../../lib/invitation.ts'
import { useWrite } from '../../lib/query.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { rememberUser, useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { useHumanCheck } from '../../ui/account/human-check.tsx'
import { PasswordField } from '../../ui/form/password-field.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import { EntryCard } from './entry-card.tsx'
import { entryTexts } from './entry-texts.ts'
import styles from './login.module.css'
import { OrganisationLogin } from './organisation-login.tsx'
import { needsSecondFactor, SecondFactor } from './second-factor.tsx'
import { texts } from './texts.ts'
import { ThirdParty } from './third-party.tsx'

export function Screen() {
  const say = useText(texts)
  const user = useSession()
  const { system_name: name, password_login_enabled: withPassword } = useStatus()
  const { values } = useUrlState({ expired: '' })
  const sayEntry = useText(entryTexts)
  const [half, setHalf] = useState(false)
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
    <EntryCard title={say('welcome', { name })} links={<Links />}>
      {values.expired && <Notice kind="warn">{say('expired')}</Notice>}
      {!withPassword && <Notice kind="warn">{say('passwordLoginOff')}</Notice>}
      <LoginForm onSecondFactor={() => setHalf(true)} />
      <ThirdParty onSecondFactor={() => setHalf(true)} />
      <OrganisationLogin />
    </EntryCard>
  )
}

function Links() {
  const say = useText(texts)
  const { register_enabled: open, self_use_mode_enabled: selfUse } = useStatus()
  return (
    <>
      {open && !selfUse && (
        <Anchor component={Link} to="/register">
          {say('toRegister')}
        </Anchor>
      )}
      <Anchor component={Link} to="/reset">
        {say('toReset')}
      </Anchor>
    </>
  )
}

/** Focused when it is mounted: it is the only input of this page. */
const focus = (input: HTMLInputElement | null) => input?.focus()

function LoginForm({ onSecondFactor }: { onSecondFactor: () => void }) {
  const say = useText(texts)
  const human = useHumanCheck('login')
  const form = useForm({ initialValues: { username: '', password: '' } })
  const logIn = useWrite('POST /api/user/login', {
    success: say('success'),
    onSuccess: rememberUser,
    onFailure: (cause) => {
      if (!needsSecondFactor(cause)) return false
      onSecondFactor()
      return true
    },
  })

  function submit({ username, password }: typeof form.values): void {
    const missing = username.trim() === '' ? 'username' : password === '' ? 'password' : undefined
    if (missing) {
      form.setFieldError(missing, say('required'))
      return
    }
    const turnstile = human.take()
    if (turnstile !== undefined) logIn.mutate({ query: { turnstile }, body: { username: username.trim(), password } })
  }

  return (
    <form className={styles.form} onSubmit={form.onSubmit(submit)} noValidate>
      <Stack gap="md">
        <TextInput
          label={say('username')}
          size="md"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          ref={focus}
          {...form.getInputProps('username')}
        />
        <PasswordField label={say('password')} size="md" autoComplete="current-password" {...form.getInputProps('password')} />
        {human.widget}
        <Button type="submit" size="md" fullWidth loading={logIn.isPending}>
          {say('submit')}
        </Button>
      </Stack>
    </form>
  )
}
