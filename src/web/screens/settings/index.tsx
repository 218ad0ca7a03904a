import { Skeleton } from '@mantine/core'
import { lazy, type ReactNode, Suspense } from 'react'
import { useText } from '../../lib/i18n.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { useMay } from '../../lib/session.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { PageTabs } from '../../ui/page-tabs.tsx'
import { tabs } from './tabs.ts'
import { texts } from './texts.ts'

/** The options bring their schemas along, which only admins need. */
const OptionTabs = lazy(async () => ({ default: (await import('./option-tabs.tsx')).OptionTabs }))

/** The settings of the site by tabs; the first tab is the own account, which everybody has. */
export function Settings({ personal }: { personal: ReactNode }) {
  const say = useText(texts)
  const mayWriteOptions = useMay('admin')
  const { values, change } = useUrlState({ tab: 'personal' })
  const open = (mayWriteOptions && tabs.find(({ value }) => value === values.tab)?.value) || 'personal'

  const content =
    open === 'personal' ? (
      personal
    ) : (
      <Suspense fallback={<Skeleton height={320} radius="lg" />}>
        <OptionTabs tab={open} />
      </Suspense>
    )

  return (
    <>
      <PageHeader title={say('title')} />
      {mayWriteOptions ? (
        <PageTabs
          tabs={tabs.map(({ value, label }) => ({ value, label: say(label) }))}
          value={open}
          onChange={(tab) => change({ tab })}
        >
          {content}
        </PageTabs>
      ) : (
        content
      )}
    </>
  )
}
