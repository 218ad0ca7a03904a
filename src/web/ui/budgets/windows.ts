import { type Budget, type BudgetPeriod, budgetPeriodLabels } from '../../../contract/entities/budget.ts'
import { formatCount } from '../../lib/format.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { texts } from './texts.ts'

/** The windows that the form offers; another length of a sliding one is typed. */
export const slidingPresets = [
  { seconds: 60, label: 'lastMinute' },
  { seconds: 3600, label: 'lastHour' },
  { seconds: 18_000, label: 'lastFiveHours' },
  { seconds: 86_400, label: 'lastDay' },
  { seconds: 604_800, label: 'lastWeek' },
  { seconds: 2_592_000, label: 'lastMonth' },
] as const

export const calendarPeriods: readonly BudgetPeriod[] = ['day', 'week', 'month', 'total']

export function useWindowText(): (budget: Pick<Budget, 'period' | 'seconds'>) => string {
  const say = useText(texts)
  const local = useLocal()
  return ({ period, seconds }) => {
    if (period !== 'sliding') return local(budgetPeriodLabels[period])
    const preset = slidingPresets.find((each) => each.seconds === seconds)
    return preset ? say(preset.label) : say('lastSeconds', { count: formatCount(seconds) })
  }
}

/** The amount that counts now. */
export function amountOf({ amount, override }: Budget, now: number): number {
  return override && (override.until === 0 || now < override.until) ? override.amount : amount
}

/** Frequent amounts of a budget. */
export const amountsUsd = [1, 5, 10, 50, 100]
