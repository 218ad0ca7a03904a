import { Skeleton, Tabs } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { useText } from '../../lib/i18n.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { useMay } from '../../lib/session.ts'
import { PageHeader } from '../../ui/page-header.tsx'
import { Personal } from './personal.tsx'
import { tabs } from './tabs.ts'
import { texts } from './texts.ts'

/** The options bring their schemas along, which only admins need. */
const OptionTabs = lazy(async () => ({ default: (await import('./option-tabs.tsx')).OptionTabs }))

export function Screen() {
  const say = useText(texts)
  const mayWriteOptions = useMay('admin')
  const { values, change } = useUrlState({ tab: 'personal' })
  const open = (mayWriteOptions && tabs.find(({ value }) => value === values.tab)?.value) || 'personal'

  return (
    <>
      <PageHeader title={say('title')} />
      <Tabs value={open} onChange={(tab) => change({ tab: tab ?? 'personal' })} keepMounted={false}>
        {mayWriteOptions && (
          <Tabs.List mb="lg">
            {tabs.map(({ value, label }) => (
              <Tabs.Tab key={value} value={value}>
                {say(label)}
              </Tabs.Tab>
            ))}
          </Tabs.List>
        )}
        <Tabs.Panel value={open}>
          {open === 'personal' ? (
            <Personal />
          ) : (
            <Suspense fallback={<Skeleton height={320} radius="lg" />}>
              <OptionTabs tab={open} />
            </Suspense>
          )}
        </Tabs.Panel>
      </Tabs>
    </>
  )
}
