import { Skeleton } from '@mantine/core'
import { IconBuilding } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useEffectEvent } from 'react'
import { useText } from '../../lib/i18n.ts'
import { managesAll, type Payer, switchPayer, usePayer } from '../../lib/payer.ts'
import { read } from '../../lib/query.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { Empty } from '../../ui/page/empty.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { PageHeader } from '../../ui/page/page-header.tsx'
import { PageTabs } from '../../ui/page/page-tabs.tsx'
import { texts } from './texts.ts'

const OverviewTab = lazy(async () => ({ default: (await import('./overview-tab.tsx')).OverviewTab }))
const MembersTab = lazy(async () => ({ default: (await import('./members-tab.tsx')).MembersTab }))
const TeamsTab = lazy(async () => ({ default: (await import('./teams-tab.tsx')).TeamsTab }))
const BudgetsTab = lazy(async () => ({ default: (await import('./budgets/budgets-tab.tsx')).BudgetsTab }))
const UsageTab = lazy(async () => ({ default: (await import('./usage-tab.tsx')).UsageTab }))
const AllowancesTab = lazy(async () => ({ default: (await import('./allowances-tab.tsx')).AllowancesTab }))
const WebhooksTab = lazy(async () => ({ default: (await import('./webhooks-tab.tsx')).WebhooksTab }))
const SignOnTab = lazy(async () => ({ default: (await import('./sign-on.tsx')).SignOnTab }))
const AuditTab = lazy(async () => ({ default: (await import('./audit-tab.tsx')).AuditTab }))

const tabs = ['overview', 'members', 'teams', 'budgets', 'usage', 'allowances', 'webhooks', 'sign-on', 'audit'] as const
type Tab = (typeof tabs)[number]
const ofOwners: readonly Tab[] = ['sign-on', 'audit']

/** The organisation that pays, for its members: each sees what the role may see. A mailed link names the one that it is about. */
export function Screen() {
  const say = useText(texts)
  const payer = usePayer()
  const { values, change } = useUrlState({ organisation: 0 })
  if (values.organisation !== 0) return <Named id={values.organisation} onDone={() => change({ organisation: 0 })} />
  if (!payer) return <Empty isPage icon={<IconBuilding />} title={say('noOrganisation')} hint={say('noOrganisationHint')} />
  return <Organisation payer={payer} />
}

/** Makes the named organisation the one that pays. */
function Named({ id, onDone }: { id: number; onDone: () => void }) {
  const client = useQueryClient()
  const found = useQuery(read('GET /api/organisation/:id', { params: { id } }))
  // The storage of the tab is outside of React.
  const isThere = useEffectEvent(onDone)
  useEffect(() => {
    if (found.data) void switchPayer(client, found.data).then(isThere)
  }, [client, found.data])
  if (found.error) return <ErrorView error={found.error} onRetry={() => void found.refetch()} />
  return <Skeleton height={240} />
}

function Organisation({ payer }: { payer: Payer }) {
  const say = useText(texts)
  const navigate = useNavigate()
  const { values } = useUrlState({ tab: 'overview' })
  const isOwner = payer.role === 'owner' || payer.role === 'operator'
  const offered = tabs.filter((name) => {
    if (name === 'webhooks') return managesAll(payer)
    return isOwner || !ofOwners.includes(name)
  })
  const tab = offered.find((name) => name === values.tab) ?? 'overview'
  const labels: Readonly<Record<Tab, string>> = {
    overview: say('tabOverview'),
    members: say('tabMembers'),
    teams: say('tabTeams'),
    budgets: say('tabBudgets'),
    usage: say('tabUsage'),
    allowances: say('tabAllowances'),
    webhooks: say('tabWebhooks'),
    'sign-on': say('tabSignOn'),
    audit: say('tabAudit'),
  }
  const show = (next: Tab) => void navigate({ to: '/organisation', search: next === 'overview' ? {} : { tab: next } })
  return (
    <>
      <PageHeader title={payer.name} description={say('description')} />
      <PageTabs tabs={offered.map((value) => ({ value, label: labels[value] }))} value={tab} onChange={show}>
        <Suspense fallback={<Skeleton height={240} />}>
          {tab === 'overview' && <OverviewTab payer={payer} />}
          {tab === 'members' && <MembersTab payer={payer} />}
          {tab === 'teams' && <TeamsTab payer={payer} />}
          {tab === 'budgets' && <BudgetsTab payer={payer} />}
          {tab === 'usage' && <UsageTab payer={payer} />}
          {tab === 'allowances' && <AllowancesTab payer={payer} />}
          {tab === 'webhooks' && <WebhooksTab payer={payer} />}
          {tab === 'sign-on' && <SignOnTab payer={payer} />}
          {tab === 'audit' && <AuditTab payer={payer} />}
        </Suspense>
      </PageTabs>
    </>
  )
}
