import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { PageHeader } from '../../ui/page/page-header.tsx'
import { NamesCard } from './names-card.tsx'
import { PasswordCard } from './password-card.tsx'
import styles from './personal.module.css'
import { texts } from './texts.ts'

/** Names and password of the user, at `/user/edit` without an id. */
export function Screen() {
  const say = useText(texts)
  const self = useQuery(read('GET /api/user/self'))
  return (
    <>
      <PageHeader title={say('ownTitle')} description={say('ownHint')} />
      {self.data ? (
        <div className={styles.personal}>
          <div className={styles.pair}>
            <NamesCard self={self.data} />
            <PasswordCard />
          </div>
        </div>
      ) : self.error ? (
        <ErrorView error={self.error} onRetry={() => void self.refetch()} />
      ) : (
        <Skeleton height={280} radius="lg" />
      )}
    </>
  )
}
