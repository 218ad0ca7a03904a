import { Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Fragment, lazy, Suspense, useState } from 'react'
import type { Section } from '../../../contract/options/define.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { useMay } from '../../lib/session.ts'
import { SearchInput } from '../../ui/form/search-input.tsx'
import { Empty } from '../../ui/page/empty.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import type { Drafts } from './drafts.ts'
import { OptionSection } from './option-section.tsx'
import { SaveBar } from './save-bar.tsx'
import styles from './settings.module.css'
import { SystemCard } from './system-card.tsx'
import type { OptionTab } from './tabs.ts'
import { texts } from './texts.ts'
import { useScrollTarget } from './use-scroll-target.ts'
import { useSections } from './use-sections.ts'

const NewerPrices = lazy(async () => ({ default: (await import('./prices/newer-prices.tsx')).NewerPrices }))
const PriceProposals = lazy(async () => ({ default: (await import('./prices/price-proposals.tsx')).PriceProposals }))

/** The tabs whose cards are drawn from the declared options, with one bar to save the changes of all. */
export function OptionTabs({ tab, drafts }: { tab: OptionTab; drafts: Drafts }) {
  const say = useText(texts)
  const local = useLocal()
  const isRoot = useMay('root')
  const [search, setSearch] = useState('')
  const isSearch = search.trim() !== ''
  const sections = useSections(tab, isSearch)
  const options = useQuery(read('GET /api/option/'))
  const secrets = useQuery(read('GET /api/option/secrets'))
  const area = useScrollTarget(sections.data !== undefined && options.data !== undefined && secrets.data !== undefined)

  // The search field stays while the other tabs are being loaded.
  if ((sections.isPending && !isSearch) || options.isPending || secrets.isPending) return <Waiting />
  const failed = [sections, options, secrets].filter(({ error }) => error)
  if (!options.data || !secrets.data || sections.error) {
    return <ErrorView error={failed[0]?.error} onRetry={() => void Promise.all(failed.map((query) => query.refetch()))} />
  }
  const declared = sections.data ?? []
  const shown = isSearch ? matching(declared, search) : declared
  const saved = Object.fromEntries(options.data.map(({ key, value }) => [key, value]))

  return (
    <div ref={area} className={styles.columns}>
      <div className={styles.side}>
        <SearchInput label={say('search')} value={search} onChange={setSearch} />
        <nav className={styles.anchors} aria-label={say('sections')}>
          {shown.map(({ place }) => (
            <Fragment key={place.name}>
              <a href={`#${place.name}`} className={styles.anchor}>
                {local(place.label)}
              </a>
              {place.name === 'prices' && (
                <a href="#public-prices" className={styles.anchor}>
                  {say('publicPrices')}
                </a>
              )}
            </Fragment>
          ))}
        </nav>
      </div>
      <Stack gap="lg" className={styles.cards ?? ''}>
        {shown.length === 0 && !sections.isPending && <Empty title={say('searchEmpty')} />}
        {shown.map((section) => (
          <Fragment key={section.place.name}>
            <OptionSection section={section} saved={saved} secrets={secrets.data} drafts={drafts} />
            {section.place.name === 'price-updates' && isRoot && (
              <Suspense fallback={<Skeleton height={120} radius="lg" />}>
                <NewerPrices />
              </Suspense>
            )}
            {section.place.name === 'prices' && (
              <div id="public-prices" className={styles.anchored}>
                <Suspense fallback={<Skeleton height={120} radius="lg" />}>
                  <PriceProposals hasDrafts={Object.keys(section.options).some((key) => drafts.values[key] !== undefined)} />
                </Suspense>
              </div>
            )}
          </Fragment>
        ))}
        {tab === 'other' && search === '' && <SystemCard />}
        {shown.length > 0 && <SaveBar drafts={drafts} />}
      </Stack>
    </div>
  )
}

/** Sections with only the options that match a search, by their texts in either language or their key. */
function matching(all: readonly Section[], search: string): readonly Section[] {
  const wanted = search.trim().toLowerCase()
  const has = (...words: (string | undefined)[]) => words.some((word) => word?.toLowerCase().includes(wanted))
  return all.flatMap(({ place, options }) => {
    if (has(place.label.zh, place.label.en)) return [{ place, options }]
    const found = Object.entries(options).filter(([key, { label, help }]) => has(key, label.zh, label.en, help?.zh, help?.en))
    return found.length === 0 ? [] : [{ place, options: Object.fromEntries(found) }]
  })
}

function Waiting() {
  return (
    <Stack gap="lg">
      <Skeleton height={220} radius="lg" />
      <Skeleton height={160} radius="lg" />
    </Stack>
  )
}
