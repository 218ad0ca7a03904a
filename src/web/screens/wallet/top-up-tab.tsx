import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { usePayer } from '../../lib/payer.ts'
import { read } from '../../lib/query.ts'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { Facts } from '../../ui/page/facts.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import { RedeemPanel } from './redeem-panel.tsx'
import { texts } from './texts.ts'
import styles from './wallet.module.css'

// Number fields are larger than the rest of this screen: they are loaded after it.
const OnlinePanel = lazy(async () => ({ default: (await import('./online-panel.tsx')).OnlinePanel }))
const TransferPanel = lazy(async () => ({ default: (await import('./transfer-panel.tsx')).TransferPanel }))

export function TopUpTab() {
  const say = useText(texts)
  const payer = usePayer()
  const self = useQuery({ ...read('GET /api/user/self'), enabled: payer === null })
  const organisation = useQuery({
    ...read('GET /api/organisation/:id', { params: { id: payer?.id ?? 0 } }),
    enabled: payer !== null,
  })
  const paying = payer ? organisation : self
  if (paying.error) return <ErrorView error={paying.error} onRetry={() => void paying.refetch()} />
  const { data } = paying
  return (
    <div className={styles.page}>
      <Panel>
        {data ? (
          <Facts
            large
            facts={[
              { label: say('balance'), value: <QuotaText units={data.quota} /> },
              { label: say('used'), value: <QuotaText units={data.used_quota} /> },
              { label: say('requests'), value: formatCount(data.request_count) },
            ]}
          />
        ) : (
          <Skeleton height={56} />
        )}
      </Panel>
      <div className={styles.columns}>
        <Suspense fallback={<Skeleton height={280} radius="lg" />}>
          <OnlinePanel />
        </Suspense>
        <div className={styles.stack}>
          <RedeemPanel />
          {self.data && !payer && (
            <Suspense>
              <TransferPanel self={self.data} />
            </Suspense>
          )}
        </div>
      </div>
    </div>
  )
}
