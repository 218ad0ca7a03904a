import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Overview, OverviewMark } from '../../../contract/entities/call-statistics.ts'
import { logSearchOf } from '../../lib/firing.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { CallBars } from '../../ui/chart/call-bars.tsx'
import { Dot } from '../../ui/chart/dot.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import styles from './overview.module.css'
import { texts } from './texts.ts'

const height = 220
/** The newest events below the chart. */
const listedMax = 5
const colors = { incident: 'orange.6', alert: 'grape.6', deployment: 'teal.6' } as const
const names = { incident: 'markIncident', alert: 'markAlert', deployment: 'markDeployment' } as const
const kinds = ['incident', 'alert', 'deployment'] as const satisfies readonly OverviewMark['kind'][]

/** Answered and failed calls over the period, with what began meanwhile; a step opens its log. */
export function CallsPanel({ overview }: { overview: Overview }) {
  const say = useText(texts)
  const local = useLocal()
  const navigate = useNavigate()
  const calls = useMemo(() => callsOf(overview), [overview])
  const marks = overview.marks.map(({ kind, id, at, text }) => {
    return { id: `${kind} ${id}`, at, color: colors[kind], label: say(names[kind], { text: local(text) }) }
  })
  const present = kinds.filter((kind) => overview.marks.some((mark) => mark.kind === kind))
  return (
    <Panel title={say('calls')} description={say('callsHint')}>
      <CallBars
        label={say('callsLabel')}
        height={height}
        calls={calls}
        marks={marks}
        legend={present.map((kind) => ({ label: say(kind), color: colors[kind] }))}
        onSelect={(span) => void navigate({ to: '/log', search: span })}
      />
      {overview.marks.length > 0 && (
        <ul className={styles.marks} aria-label={say('marks')}>
          {overview.marks
            .slice(-listedMax)
            .toReversed()
            .map((mark) => (
              <li key={`${mark.kind} ${mark.id}`}>
                <Dot color={colors[mark.kind]} />
                <TimeText seconds={mark.at} />
                <Link {...placeOf(mark, local(mark.text))} className={styles.link}>
                  {say(names[mark.kind], { text: local(mark.text) })}
                </Link>
              </li>
            ))}
        </ul>
      )}
    </Panel>
  )
}

/** Where an event is looked into: the incident, the calls behind an alert, or those since a deployment. */
function placeOf({ kind, at, subject, resolved_at }: OverviewMark, title: string) {
  if (kind === 'incident') return { to: '/incident', search: { keyword: title } }
  return { to: '/log', search: kind === 'alert' ? logSearchOf({ subject, fired_at: at, resolved_at }) : { from: at } }
}

/** The points, from the begin of the first step. */
function callsOf({ from, to, step_seconds, points }: Overview) {
  return { from: from - (from % step_seconds), to, step_seconds, points }
}
