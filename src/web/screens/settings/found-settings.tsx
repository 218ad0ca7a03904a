import { Link } from '@tanstack/react-router'
import type { Place, Section } from '../../../contract/options/define.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { Empty } from '../../ui/page/empty.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import styles from './settings.module.css'
import { tabs } from './tabs.ts'
import { texts } from './texts.ts'

/** A setting, or a whole section. */
interface Found {
  readonly place: Place
  readonly label: Place['label']
  readonly key?: string
}

/** The settings that match a search, by their texts in either language or their key. */
export function findSettings(all: readonly Section[], search: string): readonly Found[] {
  const wanted = search.trim().toLowerCase()
  const has = (...words: (string | undefined)[]) => words.some((word) => word?.toLowerCase().includes(wanted))
  return all.flatMap(({ place, options }): Found[] => [
    ...(has(place.label.zh, place.label.en) ? [{ place, label: place.label }] : []),
    ...Object.entries(options)
      .filter(([key, { label, help }]) => has(key, label.zh, label.en, help?.zh, help?.en))
      .map(([key, { label }]) => ({ place, label, key })),
  ])
}

/** The address that opens the page of a found setting, and marks its field. */
export function addressOf({ place: { tab, name }, key }: Found) {
  // Prices are a table at first, and settings in another view of it.
  const search = { tab, section: name, ...(tab === 'prices' ? { view: 'options' } : {}) }
  return { to: '/setting', search, ...(key === undefined ? {} : { hash: key }) }
}

/** What a search has found, each with its place. */
export function FoundSettings({ found, onOpen }: { found: readonly Found[]; onOpen: () => void }) {
  const say = useText(texts)
  const local = useLocal()
  const tabNames = new Map<string, string>(tabs.map(({ value, label }) => [value, say(label)]))
  return (
    <Panel title={say('found')}>
      {found.length === 0 ? (
        <Empty title={say('searchEmpty')} />
      ) : (
        <ul className={shared.list}>
          {found.map((setting) => (
            <li key={`${setting.place.name} ${setting.key}`}>
              <Link {...addressOf(setting)} className={styles.found} onClick={onOpen}>
                <span className={shared.name}>{local(setting.label)}</span>
                <small className={shared.quiet}>
                  {tabNames.get(setting.place.tab)} › {local(setting.place.label)}
                </small>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
