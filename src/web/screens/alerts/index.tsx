import { Skeleton } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { useText } from '../../lib/i18n.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { PageHeader } from '../../ui/page/page-header.tsx'
import { PageTabs } from '../../ui/page/page-tabs.tsx'
import { texts } from './texts.ts'

const RulesTab = lazy(async () => ({ default: (await import('./rules-tab.tsx')).RulesTab }))
const HistoryTab = lazy(async () => ({ default: (await import('./history-tab.tsx')).HistoryTab }))
const DestinationsTab = lazy(async () => ({ default: (await import('./destinations-tab.tsx')).DestinationsTab }))

const tabs = ['rules', 'history', 'destinations', 'webhooks'] as const
type Tab = (typeof tabs)[number]

export function Screen() {
  const say = useText(texts)
  const navigate = useNavigate()
  const { values } = useUrlState({ tab: 'rules' })
  const tab = tabs.find((name) => name === values.tab) ?? 'rules'
  // Another tab begins with its own first page, without the filters of the one before.
  const show = (next: Tab) => void navigate({ to: '/alerts', search: next === 'rules' ? {} : { tab: next } })

  return (
    <>
      <PageHeader title={say('title')} description={say('description')} />
      <PageTabs
        tabs={[
          { value: 'rules', label: say('tabRules') },
          { value: 'history', label: say('tabHistory') },
          { value: 'destinations', label: say('destinations') },
          { value: 'webhooks', label: say('tabWebhooks') },
        ]}
        value={tab}
        onChange={show}
      >
        <Suspense fallback={<Skeleton height={320} radius="lg" />}>
          {tab === 'rules' && <RulesTab />}
          {tab === 'history' && <HistoryTab />}
          {tab === 'destinations' && <DestinationsTab key="destinations" />}
          {tab === 'webhooks' && <DestinationsTab key="webhooks" ofEvents />}
        </Suspense>
      </PageTabs>
    </>
  )
}
