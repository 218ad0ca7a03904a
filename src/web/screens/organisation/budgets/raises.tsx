import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Raise } from '../../../../contract/entities/budget.ts'
import { organisationAccess } from '../../../../contract/organisation-roles.ts'
import { useQuotaFormat } from '../../../lib/format.ts'
import { useText } from '../../../lib/i18n.ts'
import { isAmong, type Payer } from '../../../lib/payer.ts'
import { read, useWrite } from '../../../lib/query.ts'
import { Panel } from '../../../ui/page/panel.tsx'
import shared from '../../../ui/shared.module.css'
import { Tag } from '../../../ui/view/tag.tsx'
import { TimeText } from '../../../ui/view/time-text.tsx'
import styles from './budgets.module.css'
import { texts } from './texts.ts'

const shownMax = 10

/** The requests that the caller may answer, each with one press, and the own ones. */
export function Raises({ payer }: { payer: Payer }) {
  const say = useText(texts)
  const { data = [] } = useQuery({
    ...read('GET /api/organisation/:id/raises', { params: { id: payer.id } }),
    enabled: isAmong(organisationAccess.teamManagers, payer.role),
  })
  // Open ones first; of the others the newest.
  const shown = [...data.filter(({ answer }) => answer === ''), ...data.filter(({ answer }) => answer !== '')].slice(0, shownMax)
  if (shown.length === 0) return null
  return (
    <Panel title={say('requests')}>
      <ul className={shared.list} aria-label={say('requests')}>
        {shown.map((raise) => (
          <Row key={raise.id} payer={payer} raise={raise} />
        ))}
      </ul>
    </Panel>
  )
}

function Row({ payer, raise }: { payer: Payer; raise: Raise }) {
  const say = useText(texts)
  const format = useQuotaFormat()
  const { id, username: name, subject_name: subject, amount, reason, created_at, answer, answered_by, may_answer } = raise
  const decide = useWrite('POST /api/organisation/:id/raises/:raise', {
    invalidates: ['GET /api/organisation/:id/raises', 'GET /api/organisation/:id/budgets'],
    success: (after) => say(after.answer === 'granted' ? 'wasGranted' : 'wasRefused'),
  })
  const press = (grant: boolean) => decide.mutate({ params: { id: payer.id, raise: id }, body: { grant } })
  return (
    <li className={styles.request}>
      <span className={styles.words}>
        {say('request', { name, subject, amount: format(amount) })}
        <small className={shared.note}>
          {' '}
          <TimeText seconds={created_at} />
        </small>
        {reason !== '' && <span className={`${shared.hint} ${shared.asWritten}`}> {reason}</span>}
      </span>
      {may_answer ? (
        <span className={styles.buttons}>
          <Button size="compact-sm" variant="default" disabled={decide.isPending} onClick={() => press(false)}>
            {say('refuse')}
          </Button>
          <Button size="compact-sm" loading={decide.isPending} onClick={() => press(true)}>
            {say('grant')}
          </Button>
        </span>
      ) : answer === '' ? (
        <Tag color="blue">{say('waiting')}</Tag>
      ) : (
        <Tag color={answer === 'granted' ? 'green' : 'gray'}>
          {say(answer === 'granted' ? 'granted' : 'refused', { name: answered_by })}
        </Tag>
      )}
    </li>
  )
}
