import { Anchor, Button, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { resendSeconds } from '../../../contract/entities/user.ts'
import { useCountdown } from '../../lib/countdown.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { useHumanCheck } from '../../ui/account/human-check.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import { EntryCard } from './entry-card.tsx'
import styles from './login.module.css'
import { texts } from './texts.ts'

/** Sends a mail with a link that resets the password. The reply does not disclose whether the address has an account. */
export function Screen() {
  const say = useText(texts)
  const human = useHumanCheck('reset')
  const pause = useCountdown()
  const [sentTo, setSentTo] = useState('')
  const form = useForm({
    initialValues: { email: '' },
    validate: { email: (text) => text.trim() === '' && say('emailRequired') },
  })
  const mail = useWrite('POST /api/reset_password', {
    success: say('linkSent'),
    onSuccess: (_data, { body }) => {
      setSentTo(body.email)
      pause.start(resendSeconds)
    },
  })

  function submit({ email }: { email: string }): void {
    const turnstile = human.take()
    if (turnstile !== undefined) mail.mutate({ body: { email: email.trim(), turnstile } })
  }

  return (
    <EntryCard
      title={say('resetTitle')}
      links={
        <Anchor component={Link} to="/login">
          {say('backToLogin')}
        </Anchor>
      }
    >
      <p className={styles.hint}>{say('resetHint')}</p>
      {sentTo !== '' && <Notice>{say('linkSentTo', { email: sentTo })}</Notice>}
      <form className={styles.form} onSubmit={form.onSubmit(submit)} noValidate>
        <Stack gap="md">
          <TextInput label={say('email')} size="md" type="email" autoComplete="email" {...form.getInputProps('email')} />
          {human.widget}
          <Button type="submit" size="md" fullWidth disabled={pause.left > 0} loading={mail.isPending}>
            {pause.left > 0 ? say('retryIn', { seconds: pause.left }) : say('resetSubmit')}
          </Button>
        </Stack>
      </form>
    </EntryCard>
  )
}
