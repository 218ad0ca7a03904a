import { Skeleton } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import { useText } from '../../lib/i18n.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { useMay } from '../../lib/session.ts'
import { confirmDiscard } from '../../ui/dialog/confirm.tsx'
import { PageHeader } from '../../ui/page/page-header.tsx'
import { PageTabs } from '../../ui/page/page-tabs.tsx'
import { type Drafts, useDrafts } from './drafts.ts'
import { type Tab, tabs } from './tabs.ts'
import { texts } from './texts.ts'

/** The options import their schemas, which only admins need. */
const OptionTabs = lazy(async () => ({ default: (await import('./option-tabs.tsx')).OptionTabs }))
const RatioTab = lazy(async () => ({ default: (await import('./ratios/ratio-tab.tsx')).RatioTab }))
const RuntimeTab = lazy(async () => ({ default: (await import('./runtime/runtime-tab.tsx')).RuntimeTab }))
const AuditLog = lazy(async () => ({ default: (await import('./audit/audit-log.tsx')).AuditLog }))

/** The settings of the site by tabs; the first tab is the user's own, which everybody has. */
export function Settings({ personal }: { personal: ReactNode }) {
  const say = useText(texts)
  const mayWriteOptions = useMay('admin')
  const isRoot = useMay('root')
  const { values, change } = useUrlState({ tab: 'personal', section: '' })
  const drafts = useDrafts()
  useLeaveGuard(drafts.tabs.size > 0)
  const offered = tabs.filter(({ value }) => value !== 'audit' || isRoot)
  const open = (mayWriteOptions && offered.find(({ value }) => value === values.tab)?.value) || 'personal'

  const content =
    open === 'personal' ? (
      personal
    ) : (
      <Suspense fallback={<Skeleton height={320} radius="lg" />}>
        <Content tab={open} drafts={drafts} />
      </Suspense>
    )

  return (
    <>
      <PageHeader title={say('title')} />
      {mayWriteOptions ? (
        <PageTabs
          tabs={offered.map(({ value, label }) => ({
            value,
            label: say(label),
            mark: drafts.tabs.has(value) ? say('changed') : undefined,
          }))}
          value={open}
          onChange={(tab) => change({ tab, section: '' })}
        >
          {content}
        </PageTabs>
      ) : (
        content
      )}
    </>
  )
}

function Content({ tab, drafts }: { tab: Exclude<Tab, 'personal'>; drafts: Drafts }) {
  if (tab === 'prices') return <RatioTab options={<OptionTabs tab="prices" drafts={drafts} />} />
  if (tab === 'runtime') return <RuntimeTab />
  if (tab === 'audit') return <AuditLog />
  return <OptionTabs tab={tab} drafts={drafts} />
}

/** Leaving the settings with unsaved changes asks first; another tab is not leaving. */
function useLeaveGuard(dirty: boolean): void {
  useBlocker({
    shouldBlockFn: async ({ next }) => dirty && next.pathname !== '/setting' && !(await confirmDiscard()),
    enableBeforeUnload: dirty,
  })
}
