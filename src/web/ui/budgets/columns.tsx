import { Progress } from '@mantine/core'
import { type Budget, budgetScopeLabels } from '../../../contract/entities/budget.ts'
import { useExactQuota, useQuotaFormat } from '../../lib/format.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { formatTime, nowSeconds } from '../../lib/times.ts'
import type { Column } from '../list/listing.ts'
import shared from '../shared.module.css'
import { QuotaText } from '../view/quota-text.tsx'
import { TimeText } from '../view/time-text.tsx'
import styles from './budgets.module.css'
import { texts } from './texts.ts'
import { amountOf, useWindowText } from './windows.ts'

/** The columns of budgets; `withSubject` for lists with budgets of several subjects. */
export function useBudgetColumns({ withSubject }: { withSubject: boolean }): Column<Budget>[] {
  const say = useText(texts)
  const subject: Column<Budget> = {
    key: 'subject',
    title: say('subject'),
    heads: true,
    width: 200,
    cell: (budget) => <Subject budget={budget} />,
  }
  return [
    ...(withSubject ? [subject] : []),
    { key: 'budget', title: say('budget'), heads: !withSubject, width: 180, cell: (budget) => <Name budget={budget} /> },
    { key: 'used', inCard: 'figure', title: say('used'), width: 220, cell: (budget) => <Used budget={budget} /> },
    { key: 'renews', inCard: 'figure', title: say('renews'), cell: (budget) => <Renews budget={budget} /> },
    { key: 'effect', title: say('effect'), hideable: true, cell: ({ is_hard }) => say(is_hard ? 'hard' : 'soft') },
    {
      key: 'shares',
      title: say('shares'),
      hideable: true,
      cell: ({ shares }) => (shares.length === 0 ? null : shares.map((share) => `${share}%`).join(' · ')),
    },
    {
      key: 'setBy',
      title: say('setBy'),
      hideable: true,
      cell: ({ set_by }) => say(set_by),
    },
  ]
}

function Subject({ budget: { scope, subject, subject_name: name } }: { budget: Budget }) {
  const local = useLocal()
  return (
    <span>
      <small className={shared.quiet}>{local(budgetScopeLabels[scope])}</small> {name || `#${subject}`}
    </span>
  )
}

function Name({ budget }: { budget: Budget }) {
  const amount = useQuotaFormat()(budget.amount)
  const period = useWindowText()(budget)
  return (
    <span className={styles.name}>
      {amount} · {period}
      {budget.name !== '' && <small className={shared.quiet}>{budget.name}</small>}
    </span>
  )
}

function Used({ budget }: { budget: Budget }) {
  const say = useText(texts)
  const format = useQuotaFormat()
  const exact = useExactQuota()
  const { spent, held, override } = budget
  const amount = amountOf(budget, nowSeconds())
  const share = amount === 0 ? 100 : Math.min(100, (spent / amount) * 100)
  const isOverridden = override !== null && amount === override.amount
  return (
    <div className={styles.used}>
      <span>
        <QuotaText units={spent} /> / <QuotaText units={amount} />
      </span>
      <Progress
        size="xs"
        value={share}
        color={share >= 100 ? 'red' : share >= 80 ? 'orange' : 'blue'}
        aria-label={`${Math.floor(share)}%`}
      />
      {held > 0 && <small className={shared.quiet}>{say('held', { amount: exact(held) })}</small>}
      {isOverridden && (
        <small className={shared.quiet}>
          {override.until === 0
            ? say('overriddenAlways', { amount: format(override.amount) })
            : say('overridden', { amount: format(override.amount), until: formatTime(override.until) })}
        </small>
      )}
    </div>
  )
}

function Renews({ budget: { renews_at: at } }: { budget: Budget }) {
  const say = useText(texts)
  return at === 0 ? <span className={shared.quiet}>{say('never')}</span> : <TimeText seconds={at} />
}
