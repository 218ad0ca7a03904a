import { NumberInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { useText } from '../../../lib/i18n.ts'
import styles from './request-limits.module.css'
import { texts } from './texts.ts'

interface AmountInputProps {
  /** Shown only where the fields of a row are stacked. */
  readonly label: string
  /** The name of the row, for the label of the field. */
  readonly of: string
  /** Whether 0 means no limit, and is shown as that. */
  readonly mayBeNone: boolean
  readonly value: number | string
  readonly onChange: (amount: number | string) => void
  readonly error: ReactNode
  readonly disabled: boolean
}

/** A whole number of requests or tokens. */
export function AmountInput({ label, of, mayBeNone, value, ...rest }: AmountInputProps) {
  const say = useText(texts)
  return (
    <NumberInput
      {...rest}
      label={label}
      aria-label={`${label} ${of}`}
      classNames={{ label: styles.label ?? '' }}
      placeholder={mayBeNone ? say('none') : ''}
      value={mayBeNone && value === 0 ? '' : value}
      allowDecimal={false}
      allowNegative={false}
      hideControls
      thousandSeparator=","
    />
  )
}
