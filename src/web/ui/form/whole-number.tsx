import { TextInput, type TextInputProps } from '@mantine/core'
import type { KeyboardEvent } from 'react'

interface WholeNumberProps extends Omit<TextInputProps, 'value' | 'onChange' | 'min' | 'inputMode'> {
  /** Text while it is being typed; '' for none. */
  readonly value?: number | string
  readonly onChange?: (value: number | string) => void
  readonly min: number
}

const digitsMax = 15
const steps: Readonly<Record<string, number>> = { ArrowUp: 1, ArrowDown: -1 }

/**
 * A whole number of at least `min`: digits, and a step with each arrow up or down. Mantine's NumberInput has more features, such as
 * decimals and separators, and is as large as a screen.
 */
export function WholeNumber({ value = '', onChange, onBlur, min, ...rest }: WholeNumberProps) {
  const number = Number(value) || 0

  function type(text: string): void {
    const digits = text.replace(/\D/g, '').slice(0, digitsMax)
    const sign = min < 0 && text.trimStart().startsWith('-') ? '-' : ''
    onChange?.(digits === '' ? sign : Number(sign + digits))
  }

  function settle(): void {
    if (value !== '') onChange?.(Math.max(min, number))
  }

  function press(event: KeyboardEvent): void {
    // It submits the current value.
    if (event.key === 'Enter') settle()
    const by = steps[event.key]
    if (by === undefined) return
    event.preventDefault()
    onChange?.(Math.max(min, number + by))
  }

  return (
    <TextInput
      {...rest}
      // Keyboards of phones that have digits alone have no minus.
      inputMode={min < 0 ? 'text' : 'numeric'}
      value={value}
      onChange={(event) => type(event.currentTarget.value)}
      onKeyDown={press}
      onBlur={(event) => {
        settle()
        onBlur?.(event)
      }}
    />
  )
}
