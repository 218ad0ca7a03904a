import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { ErrorView } from '../../ui/error-view.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Panel } from '../../ui/panel.tsx'
import { QuotaText } from '../../ui/quota-text.tsx'
import { OnlinePanel } from './online-panel.tsx'
import { RedeemPanel } from './redeem-panel.tsx'
import { texts } from './texts.ts'
import { TransferPanel } from './transfer-panel.tsx'
import styles from './wallet.module.css'

export function TopUpTab() {
  const say = useText(texts)
  const self = useQuery(read('GET /api/user/self'))
  if (self.error) return <ErrorView error={self.error} onRetry={() => void self.refetch()} />
  const { data } = self
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
        <OnlinePanel />
        <div className={styles.stack}>
          <RedeemPanel />
          {data && <TransferPanel self={data} />}
        </div>
      </div>
    </div>
  )
}
