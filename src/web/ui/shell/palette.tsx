import '@mantine/spotlight/styles.layer.css'
import { useMantineColorScheme } from '@mantine/core'
import { createSpotlight, Spotlight, type SpotlightActionGroupData } from '@mantine/spotlight'
import { IconLanguage, IconLogout, IconSearch } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useState } from 'react'
import { changeLanguage, languages, useConsoleLanguage, useLocal, useText } from '../../lib/i18n.ts'
import { useOffered } from '../../lib/offered.ts'
import { isOnTop, type Screen } from '../../lib/screen.ts'
import { useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { useFocusReturn } from '../dialog/use-focus-return.ts'
import { schemes, useLogOut } from './actions.ts'
import { useFoundRows } from './found-rows.tsx'
import styles from './palette.module.css'
import { texts } from './texts.ts'

const [store, { open, close }] = createSpotlight()

/** Every permitted screen, global actions, and rows of lists, by the typed text. In both languages. */
export function Palette({ screens, onClose }: { screens: readonly Screen[]; onClose: () => void }) {
  const say = useText(texts)
  const pages = usePages(screens)
  const actions = useActions()
  const [typed, setTyped] = useState('')
  const { found, isLookingUp } = useFoundRows(typed)
  const [isEntered, setEntered] = useState(false)
  useFocusReturn()
  const groups: SpotlightActionGroupData[] = [
    { group: say('pages'), actions: pages },
    { group: say('actions'), actions },
    ...found,
  ]

  // Outside of React: the store in which it closes itself, on Esc and after a choice.
  useEffect(() => {
    open()
    return close
  }, [])

  // Outside of React: the library marks a row by its place at the time of typing, and rows are found later than that.
  const foundIds = found.flatMap(({ actions }) => actions.map(({ id }) => id)).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list changes with what was typed and found
  useEffect(() => {
    if (typed !== '') markFirst()
  }, [typed, foundIds])

  // Enter was pressed before everything was found. Outside of React: the library knows the marked row by its attribute.
  useEffect(() => {
    if (isEntered && !isLookingUp) markedRow()?.click()
  }, [isEntered, isLookingUp])

  function waitWithEnter(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || event.nativeEvent.isComposing || !isLookingUp) return
    event.preventDefault()
    event.stopPropagation()
    setEntered(true)
  }

  return (
    <Spotlight
      store={store}
      shortcut={null}
      query={typed}
      onQueryChange={(query) => {
        setTyped(query)
        setEntered(false)
      }}
      transitionProps={{ transition: 'pop', duration: 120, onExited: onClose }}
      actions={groups}
      // The results change; the input keeps its place.
      centered={false}
      yOffset="12dvh"
      classNames={{ action: styles.action ?? '', actionsGroup: styles.group ?? '', actionDescription: styles.description ?? '' }}
      highlightQuery
      scrollable
      maxHeight={420}
      radius="lg"
      attributes={{ content: { 'aria-label': say('palette') } }}
      overlayProps={{ blur: 0, backgroundOpacity: 0.35 }}
      nothingFound={say('paletteEmpty')}
      searchProps={{
        placeholder: say('palettePlaceholder'),
        'aria-label': say('palettePlaceholder'),
        leftSection: <IconSearch size={18} stroke={1.6} />,
        onKeyDownCapture: waitWithEnter,
      }}
    />
  )
}

const markedRow = () => document.querySelector<HTMLElement>('[data-action][data-selected]')

function markFirst(): void {
  for (const row of document.querySelectorAll('[data-action][data-selected]')) row.removeAttribute('data-selected')
  document.querySelector('[data-action]')?.setAttribute('data-selected', 'true')
  store.updateState((state) => ({ ...state, selected: 0 }))
}

function usePages(screens: readonly Screen[]) {
  const local = useLocal()
  const user = useSession()
  const status = useStatus()
  const isOffered = useOffered()
  const navigate = useNavigate()
  return screens
    .filter((screen) => ((screen.nav && user) || isOnTop(screen, status)) && isOffered(screen))
    .map((screen) => ({
      id: screen.path,
      label: local(screen.label),
      keywords: [screen.label.zh, screen.label.en, screen.path],
      leftSection: <screen.icon size={18} stroke={1.6} />,
      onClick: () => void navigate({ to: screen.path }),
    }))
}

function useActions() {
  const say = useText(texts)
  const user = useSession()
  const chosen = useConsoleLanguage()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const logOut = useLogOut()

  const themes = schemes
    .filter(({ value }) => value !== colorScheme)
    .map(({ value, label, Icon }) => ({
      id: `theme:${value}`,
      label: `${say('theme')}: ${say(label)}`,
      keywords: ['theme', '主题', value],
      leftSection: <Icon size={18} stroke={1.6} />,
      onClick: () => setColorScheme(value),
    }))
  const otherLanguages = languages
    .filter(({ value }) => value !== chosen.value)
    .map(({ value, name }) => ({
      id: `language:${value}`,
      label: say('switchTo', { name }),
      keywords: ['language', '语言'],
      leftSection: <IconLanguage size={18} stroke={1.6} />,
      onClick: () => changeLanguage(value),
    }))
  const leave = {
    id: 'logout',
    label: say('logout'),
    keywords: ['logout', '退出', '注销'],
    leftSection: <IconLogout size={18} stroke={1.6} />,
    onClick: () => void logOut(),
  }
  return [...themes, ...otherLanguages, ...(user ? [leave] : [])]
}
