import type { ReactNode } from 'react'
import { defineTexts, useText } from '../lib/i18n.ts'
import { nowSeconds } from '../lib/times.ts'
import { Choices } from './choices.tsx'
import { DateTimeInput } from './date-time-input.tsx'

const daySeconds = 86_400
const spans = { hour: 3600, day: daySeconds, month: 30 * daySeconds, year: 365 * daySeconds } as const

export interface ExpiryFieldProps {
  /** Unix seconds; undefined is never. */
  readonly value: number | undefined
  readonly onChange: (at: number | undefined) => void
  /** Spans from now that are offered beside never. */
  readonly offers: readonly (keyof typeof spans)[]
  readonly error?: ReactNode
}

/** When something ends, or that it never does. */
export function ExpiryField({ value, onChange, offers, error }: ExpiryFieldProps) {
  const say = useText(texts)
  return (
    <div>
      <DateTimeInput
        label={say('expires')}
        description={say('help')}
        placeholder={say('never')}
        value={value}
        onChange={onChange}
        error={error}
      />
      <Choices
        offers={[
          { label: say('never'), onClick: () => onChange(undefined) },
          ...offers.map((span) => ({ label: say(span), onClick: () => onChange(nowSeconds() + spans[span]) })),
        ]}
      />
    </div>
  )
}

const texts = defineTexts('expiry', {
  zh: {
    expires: '过期时间',
    never: '永不过期',
    help: '清空即为永不过期。',
    hour: '一小时',
    day: '一天',
    month: '一个月',
    year: '一年',
  },
  en: {
    expires: 'Expires',
    never: 'Never expires',
    help: 'Cleared, it never expires.',
    hour: '1 hour',
    day: '1 day',
    month: '1 month',
    year: '1 year',
  },
})
