import { Button } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import type { CallReply } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import styles from './personal.module.css'
import { texts } from './texts.ts'

const EmailDialog = lazy(async () => ({ default: (await import('./email-dialog.tsx')).EmailDialog }))

/** The address of the account: for the login, for resets and for warnings. */
export function EmailCard({ self: { email } }: { self: CallReply<'GET /api/user/self'> }) {
  const say = useText(texts)
  const [binding, setBinding] = useState(false)
  return (
    <Panel title={say('email')} description={say('emailHint')}>
      <div className={styles.row}>
        <span className={styles.words}>{email || <span className={shared.quiet}>{say('notBound')}</span>}</span>
        <Button variant="default" onClick={() => setBinding(true)}>
          {say(email === '' ? 'emailBind' : 'emailChange')}
        </Button>
      </div>
      {binding && (
        <Suspense>
          <EmailDialog onClose={() => setBinding(false)} />
        </Suspense>
      )}
    </Panel>
  )
}
