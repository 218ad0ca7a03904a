import { Anchor, Button } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useState } from 'react'
import type { Release } from '../../../contract/entities/system.ts'
import { call } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import { useStatus } from '../../lib/status.ts'
import { toast } from '../../lib/toast.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Panel } from '../../ui/panel.tsx'
import { TimeText } from '../../ui/time-text.tsx'
import styles from './settings.module.css'
import { texts } from './texts.ts'

export function SystemCard() {
  const say = useText(texts)
  const { version, start_time: startTime } = useStatus()
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
      {release && <NewRelease release={release} onClose={() => setRelease(undefined)} />}
    </Panel>
  )
}

/** The notes come from elsewhere: they are shown as they are, and nothing in them is read as markup. */
function NewRelease({ release: { latest, title, notes, url }, onClose }: { release: Release; onClose: () => void }) {
  const say = useText(texts)
  return (
    <Dialog
      title={say('updateFound', { version: latest })}
      onClose={onClose}
      footer={
        url !== '' && (
          <Anchor href={url} target="_blank" rel="noopener noreferrer">
            {say('updateDetails')}
          </Anchor>
        )
      }
    >
      <strong lang="">{title}</strong>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable */}
      <pre className={styles.notes} tabIndex={0}>
        {notes}
      </pre>
    </Dialog>
  )
}
