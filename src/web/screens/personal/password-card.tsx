import { useText } from '../../lib/i18n.ts'
import { rememberUser, useSession } from '../../lib/session.ts'
import { Panel } from '../../ui/panel.tsx'
import { PasswordForm } from '../../ui/password-form.tsx'
import { texts } from './texts.ts'

export function PasswordCard() {
  const say = useText(texts)
  const user = useSession()
  return (
    <Panel title={say('password')} description={say('passwordHint')}>
      <PasswordForm onDone={() => user && rememberUser({ ...user, default_password: false })} />
    </Panel>
  )
}
