import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { alertRuleText } from '../../../contract/entities/alert.ts'
import { logSearchOf, useFiring } from '../../lib/firing.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { formatTime } from '../../lib/times.ts'
import { Notice } from '../../ui/page/notice.tsx'
import styles from './overview.module.css'
import { texts } from './texts.ts'

const shownMax = 3

/** The newest alerts that fire, each with the calls behind it. */
export function FiringStrip() {
  const say = useText(texts)
  const local = useLocal()
  const firing = useFiring()
  if (firing.length === 0) return null
  return (
    <Notice
      kind="danger"
      title={say('firing', { count: firing.length })}
      action={
        <Button variant="default" size="compact-sm" renderRoot={(button) => <Link {...button} to="/alerts" />}>
          {say('showAlerts')}
        </Button>
      }
    >
      {firing.slice(0, shownMax).map((alert) => (
        <div key={alert.id}>
          {local(alertRuleText(alert.rule).label)}: {alert.name || alert.subject} · {formatTime(alert.fired_at)}{' '}
          <Link to="/log" search={logSearchOf(alert)} className={styles.link}>
            {say('showLogs')}
          </Link>
        </div>
      ))}
    </Notice>
  )
}
