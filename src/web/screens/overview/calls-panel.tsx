import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Overview, OverviewMark } from '../../../contract/entities/call-statistics.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { CallBars } from '../../ui/chart/call-bars.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { texts } from './texts.ts'

const height = 220
const colors = { incident: 'orange.6', alert: 'grape.6', start: 'teal.6' } as const
const names = { incident: 'markIncident', alert: 'markAlert', start: 'markStart' } as const
const kinds = ['incident', 'alert', 'start'] as const satisfies readonly OverviewMark['kind'][]

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
    </Panel>
  )
}

/** The points, from the begin of the first step. */
function callsOf({ from, to, step_seconds, points }: Overview) {
  return { from: from - (from % step_seconds), to, step_seconds, points }
}
