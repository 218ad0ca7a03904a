import { useMemo } from 'react'
import type { LogHistogram } from '../../../contract/entities/log.ts'
import { formatNumber } from '../../../contract/quota.ts'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import { callSteps, type Series } from './steps.ts'
import { type Mark, TimeBars } from './time-bars.tsx'

interface CallBarsProps {
  readonly label: string
  readonly height: number
  readonly calls: Pick<LogHistogram, 'from' | 'to' | 'step_seconds' | 'points'>
  readonly marks?: readonly Mark[]
  readonly legend?: readonly { readonly label: string; readonly color: string }[]
  /** Unix seconds, both included. */
  readonly onSelect: (span: { readonly from: number; readonly to: number }) => void
}

/** Every failed call is seen, however many were answered. */
const series: readonly Series[] = [
  { id: 'answered', key: 'answered', color: 'blue.6' },
  { id: 'failed', key: 'failed', color: 'red.6', least: 3 },
]

/** Answered and failed calls over time; a choice of steps is a choice of their time. */
export function CallBars({ calls, onSelect, ...shown }: CallBarsProps) {
  const say = useText(texts)
  const steps = useMemo(() => callSteps(calls), [calls])
  return (
    <TimeBars
      {...shown}
      series={series}
      steps={steps}
      nameOf={(key) => say(key === 'failed' ? 'failedCalls' : 'answeredCalls')}
      format={formatCount}
      formatTick={wholeTick}
      onSelect={(first, last) => onSelect({ from: first.at, to: last.at + calls.step_seconds - 1 })}
    />
  )
}

const wholeTick = (value: number): string => (Number.isInteger(value) ? formatNumber(value) : '')
