import { Anchor, Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link, Navigate, useParams } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useText } from '../../lib/i18n.ts'
import { useAfterEntry } from '../../lib/invitation.ts'
import { useWrite } from '../../lib/query.ts'
import { useSession } from '../../lib/session.ts'
import { EntryCard } from './entry-card.tsx'
import { entryTexts } from './entry-texts.ts'
import styles from './login.module.css'

/** The login of an organisation: its people give a work email or its name; the address `/sso/{name}` goes there at once. */
export function Screen() {
  const say = useText(entryTexts)
  const user = useSession()
  const next = useAfterEntry()
  if (user) return <Navigate {...next} />
  return (
    <EntryCard
      title={say('organisationTitle')}
      links={
        <Anchor component={Link} to="/login">
          {say('back')}
        </Anchor>
      }
    >
      <p className={styles.hint}>{say('organisationHint')}</p>
      <OrganisationForm />
    </EntryCard>
  )
}

/** Focused when it is mounted: it is the only input of this page. */
const focus = (input: HTMLInputElement | null) => input?.focus()

function OrganisationForm() {
  const say = useText(entryTexts)
  const { name = '' } = useParams({ strict: false })
  const begun = useRef(false)
  const form = useForm({ initialValues: { login: name } })
  const start = useWrite('POST /api/sso/', { onSuccess: ({ url }) => location.assign(url) })
  const { mutate } = start

  useEffect(() => {
    if (begun.current || name === '') return
    begun.current = true
    mutate({ body: { login: name } })
  }, [name, mutate])

  function submit({ login }: typeof form.values): void {
    if (login.trim() === '') form.setFieldError('login', say('organisationMissing'))
    else mutate({ body: { login: login.trim() } })
  }

  return (
    <form className={styles.form} onSubmit={form.onSubmit(submit)} noValidate>
      <Stack gap="md">
        <TextInput
          label={say('organisationName')}
          size="md"
          autoComplete="email"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={200}
          ref={focus}
          {...form.getInputProps('login')}
        />
        <Button type="submit" size="md" fullWidth loading={start.isPending || start.isSuccess}>
          {say('continue')}
        </Button>
      </Stack>
    </form>
  )
}
