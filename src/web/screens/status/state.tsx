import { IconAlertTriangle, IconCircleCheck, IconCircleX, IconHelpCircle, IconTool } from '@tabler/icons-react'
import { type ServiceState, serviceStateLabels } from '../../../contract/entities/status-page.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { Tag, tint } from '../../ui/view/tag.tsx'
import styles from './status.module.css'
import { texts } from './texts.ts'

const looks = {
  unknown: { color: 'gray', icon: IconHelpCircle, all: 'allUnknown' },
  operational: { color: 'green', icon: IconCircleCheck, all: 'allOperational' },
  maintenance: { color: 'blue', icon: IconTool, all: 'allMaintenance' },
  degraded: { color: 'orange', icon: IconAlertTriangle, all: 'allDegraded' },
  outage: { color: 'red', icon: IconCircleX, all: 'allOutage' },
} as const satisfies Record<ServiceState, unknown>

/** The state of the site in one line. */
export function StateBanner({ state }: { state: ServiceState }) {
  const say = useText(texts)
  const { color, icon: Icon, all } = looks[state]
  return (
    <div className={styles.banner} style={tint(color)} role="status">
      <Icon size={26} stroke={1.8} aria-hidden="true" />
      <strong>{say(all)}</strong>
    </div>
  )
}

export function StateTag({ state }: { state: ServiceState }) {
  const local = useLocal()
  return (
    <Tag dot color={looks[state].color}>
      {local(serviceStateLabels[state])}
    </Tag>
  )
}
