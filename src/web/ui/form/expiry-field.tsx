import type { ReactNode } from 'react'
import { defineTexts, textOf, useText } from '../../lib/i18n.ts'
import { isTime, nowSeconds } from '../../lib/times.ts'
import { Choices } from './choices.tsx'
import { DateTimeInput } from './date-time-input.tsx'

const daySeconds = 86_400
const spans = { hour: 3600, day: daySeconds, month: 30 * daySeconds, year: 365 * daySeconds } as const

interface ExpiryFieldProps {
  /** Unix seconds; undefined for never, NaN when the text is no time. */
  readonly value?: number | undefined
  readonly onChange: (at: number | undefined) => void
  /** Spans from now that are offered beside never. */
  readonly offers: readonly (keyof typeof spans)[]
  readonly error?: ReactNode
  /** The attribute by which a form finds the field. */
  readonly 'data-path'?: string
}

/** When something ends, or that it never does. */
export function ExpiryField({ value, onChange, offers, error, 'data-path': path }: ExpiryFieldProps) {
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
        data-path={path}
        formatError={say('format')}
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

/** The error for an invalid expiry; undefined when it is valid. */
export function faultOfExpiry(at: number | undefined): string | undefined {
  return at === undefined || isTime(at) ? undefined : textOf(texts, 'format')
}

const texts = defineTexts({
  expires: ['过期时间', 'Expires'],
  never: ['永不过期', 'Never expires'],
  help: ['可以直接填写或粘贴，清空即为永不过期。', 'Type, paste or select a time. Leave blank to never expire.'],
  format: ['过期时间格式错误！请按 2026-12-31 23:59:59 的格式填写', 'Invalid expiry format. Use 2026-12-31 23:59:59.'],
  hour: ['一小时', '1 hour'],
  day: ['一天', '1 day'],
  month: ['一个月', '1 month'],
  year: ['一年', '1 year'],
})
