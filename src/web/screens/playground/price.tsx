import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { useQuotaFormat } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { findCost } from './find-cost.ts'
import styles from './playground.module.css'
import { texts } from './texts.ts'

/** What a request has cost, when its charge is in the log, beside other figures. */
export function Price({ requestId, children }: { requestId: string; children?: ReactNode }) {
  const say = useText(texts)
  const formatQuota = useQuotaFormat()
  const [cost, setCost] = useState<number>()
  // Outside of React: the log, in which the charge is.
  useEffect(() => {
    if (requestId) void findCost(requestId).then(setCost)
  }, [requestId])
  return (
    <p className={styles.figures}>
      {children}
      {cost !== undefined && <span>{say('cost', { amount: formatQuota(cost) })}</span>}
      {requestId && (
        <Link to="/log" search={{ from: 0, request_id: requestId }} className={styles.link}>
          {say('inLog')}
        </Link>
      )}
    </p>
  )
}
