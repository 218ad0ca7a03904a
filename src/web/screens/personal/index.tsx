import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import type { CallReply } from '../../lib/call.ts'
import { read } from '../../lib/query.ts'
import { useMay } from '../../lib/session.ts'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { AccessToken } from './access-token.tsx'
import { AccountCard } from './account-card.tsx'
import { DeleteCard } from './delete-card.tsx'
import { EmailCard } from './email-card.tsx'
import { InviteCard } from './invite-card.tsx'
import { ModelsCard } from './models-card.tsx'
import { NamesCard } from './names-card.tsx'
import { PasswordCard } from './password-card.tsx'
import styles from './personal.module.css'
import { SessionsCard } from './sessions-card.tsx'

/** These are heavy and further down: they are loaded later, so that the first visit stays light. */
const NoticesCard = lazy(async () => ({ default: (await import('./notices-card.tsx')).NoticesCard }))
const Bindings = lazy(async () => ({ default: (await import('./bindings.tsx')).Bindings }))
const Security = lazy(async () => ({ default: (await import('./security.tsx')).Security }))

/** The screen of the user's own account. */
export function Personal() {
  const self = useQuery(read('GET /api/user/self'))
  if (self.data) return <Cards self={self.data} />
  if (self.error) return <ErrorView error={self.error} onRetry={() => void self.refetch()} />
  return (
    <div className={styles.personal}>
      <Skeleton height={148} radius="lg" />
      <Skeleton height={96} radius="lg" />
      <Skeleton height={220} radius="lg" />
    </div>
  )
}

function Cards({ self }: { self: CallReply<'GET /api/user/self'> }) {
  const isRoot = useMay('root')
  return (
    <div className={styles.personal}>
      <AccountCard self={self} />
      <ModelsCard />
      <div className={styles.pair}>
        <div className={styles.column}>
          <InviteCard self={self} />
          <EmailCard self={self} />
          <Suspense fallback={<Skeleton height={220} radius="lg" />}>
            <Bindings />
          </Suspense>
          <NamesCard self={self} />
          <SessionsCard />
          <AccessToken />
        </div>
        <div className={styles.column}>
          <Suspense fallback={<Skeleton height={400} radius="lg" />}>
            <NoticesCard self={self} />
          </Suspense>
          <PasswordCard />
          <Suspense fallback={<Skeleton height={260} radius="lg" />}>
            <Security />
          </Suspense>
        </div>
      </div>
      {!isRoot && <DeleteCard username={self.username} />}
    </div>
  )
}
