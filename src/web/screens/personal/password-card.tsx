import { useQuery } from '@tanstack/react-query'
import { useText } from '../../lib/i18n.ts'
import { invalidate, queryClient, read } from '../../lib/query.ts'
import { rememberUser, useSession } from '../../lib/session.ts'
import { PasswordForm } from '../../ui/account/password-form.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { texts } from './texts.ts'

export function PasswordCard() {
  const say = useText(texts)
  const user = useSession()
  const security = useQuery(read('GET /api/user/security'))
  return (
    <Panel title={say('password')} description={say('passwordHint')}>
      <PasswordForm
        isFirst={security.data?.password === false}
        onDone={() => {
          if (user) rememberUser({ ...user, default_password: false })
          void invalidate(queryClient, ['GET /api/user/security'])
        }}
      />
    </Panel>
  )
}
