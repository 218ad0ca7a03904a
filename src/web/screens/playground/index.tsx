import { Button } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconAdjustmentsHorizontal } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { Notice } from '../../ui/notice.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Chat } from './chat.tsx'
import styles from './playground.module.css'
import { useSettings } from './settings.ts'
import { SettingsPanel } from './settings-panel.tsx'
import { texts } from './texts.ts'

const SettingsDrawer = lazy(async () => ({ default: (await import('./settings-drawer.tsx')).SettingsDrawer }))

export function Screen() {
  const say = useText(texts)
  const narrow = useMediaQuery('(width <= 900px)', undefined, { getInitialValueInEffect: false })
  const { values } = useUrlState({ expired: '' })
  const choices = useSettings()
  const [settingsOpen, setSettingsOpen] = useState(false)
  const [showMissing, setShowMissing] = useState(false)
  const panel = <SettingsPanel choices={choices} showMissing={showMissing} />

  function isReady(): boolean {
    const { group, model } = choices.settings
    const ready = group !== '' && model !== ''
    setShowMissing(!ready)
    if (!ready) setSettingsOpen(true)
    return ready
  }

  return (
    <div className={styles.page}>
      <PageHeader
        title={say('title')}
        actions={
          narrow && (
            <Button variant="default" leftSection={<IconAdjustmentsHorizontal size={16} />} onClick={() => setSettingsOpen(true)}>
              {choices.settings.model || say('settings')}
            </Button>
          )
        }
      />
      {values.expired && (
        <div className={styles.notice}>
          <Notice kind="warn">{say('expired')}</Notice>
        </div>
      )}
      <div className={styles.layout}>
        {!narrow && (
          <aside className={styles.panel} aria-label={say('settings')}>
            {panel}
          </aside>
        )}
        <Chat settings={choices.settings} isReady={isReady} />
      </div>
      {narrow && settingsOpen && (
        <Suspense>
          <SettingsDrawer onClose={() => setSettingsOpen(false)}>{panel}</SettingsDrawer>
        </Suspense>
      )}
    </div>
  )
}
