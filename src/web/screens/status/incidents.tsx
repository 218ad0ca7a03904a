import { type Incident, type IncidentState, incidentStateLabels, isEnded } from '../../../contract/entities/incident.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { formatTime } from '../../lib/times.ts'
import shared from '../../ui/shared.module.css'
import { Tag } from '../../ui/view/tag.tsx'
import styles from './status.module.css'
import { texts } from './texts.ts'

/** Incidents and maintenance with what was written about them. */
export function IncidentList({ incidents }: { incidents: readonly Incident[] }) {
  return (
    <ul className={`${shared.list} ${styles.incidents}`}>
      {incidents.map((each) => (
        <li key={each.id}>
          <Entry incident={each} />
        </li>
      ))}
    </ul>
  )
}

function Entry({ incident }: { incident: Incident }) {
  const say = useText(texts)
  const { kind, title, state, starts_at: from, ends_at: to, updates } = incident
  const times = to > 0 ? say('fromTo', { from: minute(from), to: minute(to) }) : say('from', { from: minute(from) })
  return (
    <article className={styles.incident}>
      <header>
        <h3>{title}</h3>
        <IncidentTag state={state} />
        {kind === 'maintenance' && <Tag color="blue">{say('maintenance')}</Tag>}
      </header>
      <p className={styles.quiet}>
        {times} · <Affected incident={incident} />
      </p>
      <ol>
        {updates.map((update) => (
          <li key={`${update.created_at} ${update.message}`}>
            <Update {...update} />
          </li>
        ))}
      </ol>
    </article>
  )
}

function Affected({ incident: { groups, models } }: { incident: Incident }) {
  const say = useText(texts)
  const names = [...groups, ...models]
  return names.length === 0 ? say('affectsAll') : say('affects', { names: names.join(', ') })
}

function Update({ state, message, created_at: at }: Incident['updates'][number]) {
  const local = useLocal()
  return (
    <>
      <strong>{local(incidentStateLabels[state])}</strong>
      <time className={styles.quiet} dateTime={new Date(at * 1000).toISOString()}>
        {minute(at)}
      </time>
      <p className={shared.asWritten}>{message}</p>
    </>
  )
}

function IncidentTag({ state }: { state: IncidentState }) {
  const local = useLocal()
  const color = isEnded(state) ? 'green' : state === 'scheduled' || state === 'in_progress' ? 'blue' : 'orange'
  return (
    <Tag dot color={color}>
      {local(incidentStateLabels[state])}
    </Tag>
  )
}

function minute(seconds: number): string {
  return formatTime(seconds).slice(0, 16)
}
