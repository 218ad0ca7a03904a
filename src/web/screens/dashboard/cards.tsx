import { useQuery } from '@tanstack/react-query'
import type { UsageSums } from '../../../contract/entities/usage-sum.ts'
import { formatNumber } from '../../../contract/quota.ts'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { Facts } from '../../ui/page/facts.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import styles from './dashboard.module.css'
import { texts } from './texts.ts'

/** The user's account beside the sums of the period; the two are never mixed. */
export function Cards({ title, total, seconds }: { title: string; total: UsageSums['total'] | undefined; seconds: number }) {
  const say = useText(texts)
  const { data: self } = useQuery(read('GET /api/user/self'))
  const perMinute = (count: number) => <span title={say('averageHint')}>{formatRate((count * 60) / seconds)}</span>
  return (
    <div className={styles.cards}>
      <Panel title={say('ownAccount')}>
        <Facts
          facts={[
            { label: say('balance'), value: self ? <QuotaText units={self.quota} /> : '–' },
            { label: say('used'), value: self ? <QuotaText units={self.used_quota} /> : '–' },
            { label: say('requests'), value: self ? formatCount(self.request_count) : '–' },
          ]}
        />
      </Panel>
      <Panel title={title}>
        <Facts
          facts={[
            { label: say('sumQuota'), value: total ? <QuotaText units={total.quota} /> : '–' },
            { label: say('sumTokens'), value: total ? formatNumber(total.token_used) : '–' },
            { label: say('sumCount'), value: total ? formatCount(total.count) : '–' },
            { label: say('averageRpm'), value: total ? perMinute(total.count) : '–' },
            { label: say('averageTpm'), value: total ? perMinute(total.token_used) : '–' },
          ]}
        />
      </Panel>
    </div>
  )
}

function formatRate(value: number): string {
  return value >= 1000 ? formatNumber(Math.round(value)) : String(Number(value.toFixed(3)))
}
