import { Button } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import type { Release } from '../../../contract/entities/system.ts'
import { call } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { useStatus } from '../../lib/status.ts'
import { toast } from '../../lib/toast.ts'
import { Facts } from '../../ui/page/facts.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import { texts } from './texts.ts'

const NewRelease = lazy(async () => ({ default: (await import('./new-release.tsx')).NewRelease }))

/** The running version, and the check for a newer one. Where there is no address to ask, it says what to set. */
export function SystemCard() {
  const say = useText(texts)
  const { sluice_version: version, start_time: startTime } = useStatus()
  const { data: system } = useQuery(read('GET /api/system/'))
  const [checking, setChecking] = useState(false)
  const [release, setRelease] = useState<Release>()

  async function check(): Promise<void> {
    setChecking(true)
    try {
      const latest = await call('GET /api/system/update')
      if (latest.is_newer) setRelease(latest)
      else toast.success(say('updateNone', { version: latest.latest }))
    } catch (cause) {
      toast.failureOf(say('updateFailed'), cause)
    } finally {
      setChecking(false)
    }
  }

  return (
    <Panel
      title={say('system')}
      aside={
        <Button variant="default" leftSection={<IconRefresh size={16} />} loading={checking} onClick={() => void check()}>
          {say('updateCheck')}
        </Button>
      }
    >
      <Facts
        facts={[
          { label: say('version'), value: version },
          { label: say('startTime'), value: <TimeText seconds={startTime} /> },
        ]}
      />
      {system?.update_feed === false && <Notice>{say('updateUnset')}</Notice>}
      {release && (
        <Suspense>
          <NewRelease release={release} onClose={() => setRelease(undefined)} />
        </Suspense>
      )}
    </Panel>
  )
}
