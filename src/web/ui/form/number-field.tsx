import { NumberInput, type NumberInputProps } from '@mantine/core'
import { useState } from 'react'
import { tidy } from '../../../contract/quota.ts'
import type { Unit } from '../../../contract/units.ts'
import { formatCount } from '../../lib/format.ts'
import { useLocal } from '../../lib/i18n.ts'
import { inLargerUnits } from '../../lib/measures.ts'
import { useStatus } from '../../lib/status.ts'

interface NumberFieldProps extends Omit<NumberInputProps, 'value' | 'onChange'> {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly unit: Unit | undefined
}

/** A number with its unit, and beside it what that is in larger units. Quota is typed in dollars where the site shows it so. */
export function NumberField({ unit, ...props }: NumberFieldProps) {
  const local = useLocal()
  const { display_in_currency: inCurrency } = useStatus()
  if (unit?.of === 'quota' && inCurrency) return <QuotaField unit={unit} {...props} />
  const count = Number(props.value)
  const larger = unit && inLargerUnits(count, unit, local)
  return (
    <NumberInput
      {...props}
      {...beside(larger && `= ${larger}`)}
      onChange={(next) => props.onChange(String(next))}
      suffix={unit ? ` ${local(unit, { count })}` : undefined}
      thousandSeparator=","
    />
  )
}

/** The value is in units; the dollars of the last input are kept as they were typed. */
function QuotaField({ unit, value, onChange, ...props }: NumberFieldProps & { unit: Unit }) {
  const local = useLocal()
  const { quota_per_unit: perUsd } = useStatus()
  const [typed, setTyped] = useState<number | string>('')
  const unitsOf = (usd: number | string) => (usd === '' ? '' : String(Math.round(Number(usd) * perUsd)))
  const count = Number(value)
  return (
    <NumberInput
      {...props}
      {...beside(value === '' ? undefined : `${formatCount(count)} ${local(unit, { count })}`)}
      value={unitsOf(typed) === value ? typed : value === '' ? '' : tidy(count / perUsd)}
      onChange={(usd) => {
        setTyped(usd)
        onChange(unitsOf(usd))
      }}
      prefix="$"
      thousandSeparator=","
    />
  )
}

/** Text at the right end of a field; a Chinese character is as wide as two others. */
export function beside(words: string | undefined): NumberInputProps {
  if (words === undefined) return {}
  const width = [...words].reduce((sum, letter) => sum + (letter > '\u2e80' ? 2 : 1), 3)
  return { rightSection: <small>{words}</small>, rightSectionWidth: `${width}ch`, rightSectionPointerEvents: 'none' }
}
