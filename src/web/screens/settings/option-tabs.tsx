import { Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, Fragment, lazy, Suspense, useState } from 'react'
import { useLocal, useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { useMay } from '../../lib/session.ts'
import { SearchInput } from '../../ui/form/search-input.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import type { Drafts } from './drafts.ts'
import { addressOf, FoundSettings, findSettings } from './found-settings.tsx'
import { OptionSection } from './option-section.tsx'
import { SaveBar } from './save-bar.tsx'
import { SectionList } from './section-list.tsx'
import styles from './settings.module.css'
import { SystemCard } from './system-card.tsx'
import type { OptionTab } from './tabs.ts'
import { texts } from './texts.ts'
import { useScrollTarget } from './use-scroll-target.ts'
import { useAllSections, useSections } from './use-sections.ts'
import { useShownSections } from './use-shown-sections.ts'

const NewerPrices = lazy(async () => ({ default: (await import('./prices/newer-prices.tsx')).NewerPrices }))
const PriceProposals = lazy(async () => ({ default: (await import('./prices/price-proposals.tsx')).PriceProposals }))

/** The tabs whose cards are drawn from the declared options, with one bar to save the changes of all. */
export function OptionTabs({ tab, drafts }: { tab: OptionTab; drafts: Drafts }) {
  const say = useText(texts)
  const local = useLocal()
  const isRoot = useMay('root')
  const [search, setSearch] = useState('')
  const isSearch = search.trim() !== ''
  const sections = useSections(tab)
  const all = useAllSections(isSearch)
  const options = useQuery(read('GET /api/option/'))
  const secrets = useQuery(read('GET /api/option/secrets'))
  const navigate = useNavigate()
  const { shown, open } = useShownSections(sections.data ?? [])
  const isDrawn = !isSearch && sections.data !== undefined && options.data !== undefined && secrets.data !== undefined
  const area = useScrollTarget(isDrawn, open)

  if (sections.isPending || options.isPending || secrets.isPending) return <Waiting />
  const failed = [sections, options, secrets].filter(({ error }) => error)
  if (!options.data || !secrets.data || sections.error) {
    return <ErrorView error={failed[0]?.error} onRetry={() => void Promise.all(failed.map((query) => query.refetch()))} />
  }
  const saved = Object.fromEntries(options.data.map(({ key, value }) => [key, value]))
  const found = findSettings(all.data ?? [], search)

  function openFirst(event: FormEvent): void {
    event.preventDefault()
    const [first] = found
    if (!isSearch || !first) return
    setSearch('')
    void navigate(addressOf(first))
  }

  const listed = sections.data.flatMap(({ place }) => [
    { name: place.name, label: local(place.label), isChanged: drafts.sections.has(place.name) },
    ...(place.name === 'prices' ? [{ name: 'public-prices', label: say('publicPrices'), isChanged: false }] : []),
  ])

  return (
    <div ref={area} className={styles.columns}>
      <div className={styles.side}>
        <form onSubmit={openFirst}>
          <SearchInput label={say('search')} value={search} onChange={setSearch} />
        </form>
        {!isSearch && <SectionList sections={listed} open={open} />}
      </div>
      <Stack gap="lg" className={styles.cards ?? ''}>
        {isSearch ? (
          all.data && <FoundSettings found={found} onOpen={() => setSearch('')} />
        ) : (
          <>
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
            {tab === 'other' && <SystemCard />}
          </>
        )}
        <SaveBar drafts={drafts} />
      </Stack>
    </div>
  )
}

function Waiting() {
  return (
    <Stack gap="lg">
      <Skeleton height={220} radius="lg" />
      <Skeleton height={160} radius="lg" />
    </Stack>
  )
}
