import { useQuery } from '@tanstack/react-query'
import { formatNumber } from '../../../contract/quota.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { Facts } from '../../ui/page/facts.tsx'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import type { LogFilter } from './filters.ts'
import styles from './log.module.css'
import { texts } from './texts.ts'

interface StatisticsProps {
  readonly isAdmin: boolean
  readonly filter: LogFilter
  /** Milliseconds between refreshes; false for none. */
  readonly every: number | false
}

/** Consumption within the filter, and the rates of the last minute. */
export function Statistics({ isAdmin, filter, every }: StatisticsProps) {
  const say = useText(texts)
  const line = isAdmin ? 'GET /api/log/stat' : 'GET /api/log/self/stat'
  const { data } = useQuery({ ...read(line, { query: filter }), refetchInterval: every, placeholderData: (before) => before })
  const pace = (count: number | undefined, hint: string) => (
    <span title={hint}>{count === undefined ? '–' : formatNumber(count)}</span>
  )
  return (
    <div className={styles.statistics}>
      <Facts
        facts={[
          { label: say('consumed'), value: data ? <QuotaText units={data.quota} /> : '–' },
          { label: say('rpm'), value: pace(data?.rpm, say('rpmHint')) },
          { label: say('tpm'), value: pace(data?.tpm, say('tpmHint')) },
        ]}
      />
    </div>
  )
}
