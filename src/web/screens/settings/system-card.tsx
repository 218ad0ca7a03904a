import { useText } from '../../lib/i18n.ts'
import { useStatus } from '../../lib/status.ts'
import { Facts } from '../../ui/facts.tsx'
import { Panel } from '../../ui/panel.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import { texts } from './texts.ts'

export function SystemCard() {
  const say = useText(texts)
  const { version, start_time: startTime } = useStatus()
  return (
    <Panel title={say('system')}>
      <Facts
        facts={[
          { label: say('version'), value: version },
          { label: say('startTime'), value: <TimeText seconds={startTime} /> },
        ]}
      />
    </Panel>
  )
}
