import { Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { rememberUser, useSession } from '../../lib/session.ts'
import { ErrorView } from '../../ui/error-view.tsx'
import { Panel } from '../../ui/panel.tsx'
import { PasswordForm } from '../../ui/password-form.tsx'
import { AccessToken } from './access-token.tsx'
import { AccountCard } from './account-card.tsx'
import { ModelsCard } from './models-card.tsx'
import styles from './personal.module.css'
import { texts } from './texts.ts'

/** Everything about the own account. */
export function Personal() {
  const say = useText(texts)
  const user = useSession()
  const self = useQuery(read('GET /api/user/self'))

  return (
    <div className={styles.personal}>
      {self.data ? (
        <AccountCard self={self.data} />
      ) : self.error ? (
        <ErrorView error={self.error} onRetry={() => void self.refetch()} />
      ) : (
        <Skeleton height={148} radius="lg" />
      )}
      <ModelsCard />
      <div className={styles.pair}>
        <Panel title={say('password')} description={say('passwordHint')}>
          <PasswordForm onDone={() => user && rememberUser({ ...user, default_password: false })} />
        </Panel>
        <Stack gap="lg">
          <AccessToken />
        </Stack>
      </div>
    </div>
  )
}
