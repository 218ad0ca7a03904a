import { Skeleton } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { useText } from '../../lib/i18n.ts'
import { useMayCall, usePayer } from '../../lib/payer.ts'
import { useUrlState } from '../../lib/search-params.ts'
import { PageHeader } from '../../ui/page/page-header.tsx'
import { PageTabs } from '../../ui/page/page-tabs.tsx'
import { OrderNotice } from './order-notice.tsx'
import { texts } from './texts.ts'
import { TopUpTab } from './top-up-tab.tsx'

const OrdersTab = lazy(async () => ({ default: (await import('./orders-tab.tsx')).OrdersTab }))
const MonthTab = lazy(async () => ({ default: (await import('./month-tab.tsx')).MonthTab }))
const StatementTab = lazy(async () => ({ default: (await import('./statement-tab.tsx')).StatementTab }))

const tabs = ['top-up', 'orders', 'statement', 'months'] as const
type Tab = (typeof tabs)[number]

export function Screen() {
  const say = useText(texts)
  const navigate = useNavigate()
  const { values } = useUrlState({ tab: 'top-up', order: '' })
  // Who only sees the sums of an organisation cannot pay for it.
  const mayPay = useMayCall('GET /api/user/topup/info')
  const isOfOrganisation = usePayer() !== null
  const offered = tabs.filter((name) => (name === 'months' ? isOfOrganisation : mayPay || name === 'statement'))
  const tab = offered.find((name) => name === values.tab) ?? offered[0] ?? 'statement'
  const labels = { 'top-up': say('tabTopUp'), orders: say('tabOrders'), statement: say('statement'), months: say('tabMonths') }
  useReturn()
  // Another tab begins with its own first page, without the filters of the one before.
  const show = (next: Tab) => void navigate({ to: '/topup', search: next === 'top-up' ? {} : { tab: next } })

  return (
    <>
      <PageHeader title={say('title')} description={say('description')} />
      {values.order !== '' && <OrderNotice tradeNo={values.order} onClose={() => show(tab)} />}
      <PageTabs tabs={offered.map((value) => ({ value, label: labels[value] }))} value={tab} onChange={show}>
        <Suspense fallback={<Skeleton height={240} />}>
          {tab === 'top-up' && <TopUpTab />}
          {tab === 'orders' && <OrdersTab />}
          {tab === 'statement' && <StatementTab />}
          {tab === 'months' && <MonthTab />}
        </Suspense>
      </PageTabs>
    </>
  )
}

/** Payment pages return with a report in the address, of which only the number is used: the server knows the payment. */
function useReturn(): void {
  const { out_trade_no: number }: Readonly<Record<string, unknown>> = useSearch({ strict: false })
  const navigate = useNavigate()

  // Outside of React: the address of the window.
  useEffect(() => {
    if (number !== undefined) void navigate({ to: '/topup', search: { order: String(number) }, replace: true })
  }, [number, navigate])
}
