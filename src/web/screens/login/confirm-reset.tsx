import { Anchor, Button, Stack, TextInput } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { forgetUser } from '../../lib/session.ts'
import { Notice } from '../../ui/page/notice.tsx'
import { CopyButton, copyText } from '../../ui/view/copy-text.tsx'
import { EntryCard } from './entry-card.tsx'
import styles from './login.module.css'
import { texts } from './texts.ts'

/** The target of a mailed link: sets a new password and shows it once. */
export function Screen() {
  const say = useText(texts)
  const { values } = useUrlState({ email: '', token: '' })
  const [password, setPassword] = useState('')
  const isComplete = values.email !== '' && values.token !== ''
  const reset = useWrite('POST /api/user/reset', {
    onSuccess: (fresh) => {
      setPassword(fresh)
      // Every session has ended, this browser's too.
      forgetUser()
      void copyText(fresh, say('passwordCopied'))
    },
  })

  return (
    <EntryCard title={say('confirmTitle')} links={<Links done={password !== ''} />}>
      {!isComplete && <Notice kind="warn">{say('linkBroken')}</Notice>}
      <div className={styles.form}>
        <Stack gap="md">
          <TextInput label={say('email')} size="md" readOnly value={values.email} />
          {password === '' ? (
            <Button
              size="md"
              fullWidth
              disabled={!isComplete}
              loading={reset.isPending}
              onClick={() => reset.mutate({ body: values })}
            >
              {say('confirmSubmit')}
            </Button>
          ) : (
            <>
              <TextInput
                label={say('newPassword')}
                description={say('newPasswordHint')}
                size="md"
                readOnly
                value={password}
                onFocus={(event) => event.currentTarget.select()}
                rightSection={<CopyButton text={password} label={say('newPassword')} />}
              />
              <Button component={Link} to="/login" size="md" fullWidth>
                {say('submit')}
              </Button>
            </>
          )}
        </Stack>
      </div>
    </EntryCard>
  )
}

function Links({ done }: { done: boolean }) {
  const say = useText(texts)
  if (done) return null
  return (
    <Anchor component={Link} to="/reset">
      {say('anotherLink')}
    </Anchor>
  )
}
