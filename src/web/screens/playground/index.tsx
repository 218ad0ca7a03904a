import { ActionIcon, Box, Button, SegmentedControl, Skeleton, Tooltip } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconAdjustmentsHorizontal, IconHistory, IconMessagePlus } from '@tabler/icons-react'
import { lazy, type ReactNode, Suspense, useEffect, useState, useSyncExternalStore } from 'react'
import { type HandedConversation, takeConversation } from '../../lib/handed-conversation.ts'
import { useText } from '../../lib/i18n.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { useSession } from '../../lib/session.ts'
import { Notice } from '../../ui/page/notice.tsx'
import { PageHeader } from '../../ui/page/page-header.tsx'
import { Chat } from './chat.tsx'
import { Library, type LibraryState } from './library.ts'
import { statesOf } from './parameters.ts'
import styles from './playground.module.css'
import { type Choices, useSettings } from './settings.ts'
import { SettingsPanel } from './settings-panel.tsx'
import { texts } from './texts.ts'
import { turnsOf } from './turns.ts'

const PanelDrawer = lazy(async () => ({ default: (await import('./panel-drawer.tsx')).PanelDrawer }))
const DecisionForm = lazy(async () => ({ default: (await import('./decision-form.tsx')).DecisionForm }))
const MediaForm = lazy(async () => ({ default: (await import('./media-form.tsx')).MediaForm }))
const HistoryPanel = lazy(async () => ({ default: (await import('./history-panel.tsx')).HistoryPanel }))

type Panel = 'settings' | 'history'

const modes = ['chat', 'decisions', 'media'] as const

export function Screen() {
  const say = useText(texts)
  const narrow = useMediaQuery('(width <= 900px)', undefined, { getInitialValueInEffect: false })
  const { values, change } = useUrlState({ expired: '', mode: 'chat' })
  const mode = modes.find((each) => each === values.mode) ?? 'chat'
  const isChat = mode === 'chat'
  const choices = useSettings()
  const handed = useHanded(choices)
  const [library, shelf] = useLibrary(handed)
  const [panel, setPanel] = useState<Panel>('settings')
  const [drawerOpen, setDrawerOpen] = useState(false)
  const [showMissing, setShowMissing] = useState(false)
  const { models } = choices.settings

  function show(wanted: Panel): void {
    setPanel(wanted)
    setDrawerOpen(true)
  }

  function isReady(): boolean {
    const ready = choices.settings.group !== '' && !models.includes('')
    setShowMissing(!ready)
    if (!ready) show('settings')
    return ready
  }

  const content =
    panel === 'settings' || !isChat ? (
      <SettingsPanel choices={choices} showMissing={showMissing} isChat={isChat} />
    ) : (
      <Suspense fallback={<Skeleton height={160} />}>
        <HistoryPanel library={library} shelf={shelf} onOpened={() => setDrawerOpen(false)} />
      </Suspense>
    )
  const [firstModel = '', ...others] = models
  const chosen = others.length > 0 ? `${firstModel} +${others.length}` : firstModel

  return (
    <div className={styles.page}>
      <PageHeader
        title={say('title')}
        actions={
          <>
            {narrow && (
              <>
                <Button
                  variant="default"
                  className={styles.chosen ?? ''}
                  leftSection={<IconAdjustmentsHorizontal size={16} />}
                  onClick={() => show('settings')}
                >
                  {chosen || say('settings')}
                </Button>
                {isChat && (
                  <IconButton label={say('history')} onClick={() => show('history')}>
                    <IconHistory size={18} stroke={1.6} />
                  </IconButton>
                )}
              </>
            )}
            {!isChat ? null : narrow ? (
              <IconButton label={say('newConversation')} onClick={() => library.startNew()}>
                <IconMessagePlus size={18} stroke={1.6} />
              </IconButton>
            ) : (
              <Button variant="default" leftSection={<IconMessagePlus size={16} />} onClick={() => library.startNew()}>
                {say('newConversation')}
              </Button>
            )}
          </>
        }
      />
      {values.expired && (
        <Box mb="md">
          <Notice kind="warn">{say('expired')}</Notice>
        </Box>
      )}
      <SegmentedControl
        className={styles.mode ?? ''}
        aria-label={say('mode')}
        value={mode}
        onChange={(next) => change({ mode: next })}
        data={[
          { value: 'chat', label: say('conversation') },
          { value: 'decisions', label: say('decisions') },
          { value: 'media', label: say('media') },
        ]}
      />
      <div className={styles.layout}>
        {!narrow && (
          <aside className={styles.panel} aria-label={say(isChat ? panel : 'settings')}>
            {isChat && (
              <SegmentedControl
                fullWidth
                size="xs"
                mb="md"
                aria-label={say('panel')}
                value={panel}
                onChange={setPanel}
                data={[
                  { value: 'settings', label: say('settings') },
                  { value: 'history', label: say('history') },
                ]}
              />
            )}
            {content}
          </aside>
        )}
        {!isChat ? (
          <Suspense fallback={<div className={styles.chat} />}>
            {mode === 'media' ? (
              <MediaForm choices={choices} isReady={isReady} />
            ) : (
              <DecisionForm settings={choices.settings} isReady={isReady} />
            )}
          </Suspense>
        ) : shelf.ready ? (
          <Chat
            key={shelf.conversation.id}
            conversation={shelf.conversation}
            settings={choices.settings}
            isReady={isReady}
            onNew={() => library.startNew()}
            draft={library.begins(shelf.conversation) ? handed?.question : undefined}
          />
        ) : (
          <div className={styles.chat} />
        )}
      </div>
      {narrow && drawerOpen && (
        <Suspense>
          <PanelDrawer title={say(isChat ? panel : 'settings')} onClose={() => setDrawerOpen(false)}>
            {content}
          </PanelDrawer>
        </Suspense>
      )}
    </div>
  )
}

function IconButton({ label, onClick, children }: { label: string; onClick: () => void; children: ReactNode }) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" size={36} aria-label={label} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  )
}

/** A conversation from another screen: its model and parameters become those of the settings. */
function useHanded({ change }: Choices): HandedConversation | undefined {
  const [handed] = useState(takeConversation)
  // Once, for the settings of this browser, which are outside of React.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was handed over stays the same
  useEffect(() => {
    if (handed) change({ models: [handed.model], system: handed.system, parameters: statesOf(handed.parameters) })
  }, [handed])
  return handed
}

function useLibrary(handed: HandedConversation | undefined): [Library, LibraryState] {
  const userId = useSession()?.id ?? 0
  const [library] = useState(() => new Library(userId, handed && turnsOf(handed)))
  const shelf = useSyncExternalStore(library.subscribe, library.read)
  // Outside of React: other tabs, and answers that are being written.
  useEffect(() => library.attend(), [library])
  return [library, shelf]
}
