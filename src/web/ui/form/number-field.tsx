import { NumberInput, type NumberInputProps } from '@mantine/core'
import type { Unit } from '../../../contract/units.ts'
import { useLocal } from '../../lib/i18n.ts'
import { inLargerUnits } from '../../lib/measures.ts'
import shared from '../shared.module.css'

interface NumberFieldProps extends Omit<NumberInputProps, 'value' | 'onChange'> {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly unit: Unit | undefined
}

/** A number with its unit, and beside it what that is in larger units. Amounts of quota are a `QuotaInput`. */
export function NumberField({ unit, ...props }: NumberFieldProps) {
  const local = useLocal()
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

/** Text at the right end of a field; a Chinese character is as wide as two others. */
export function beside(
  words: string | undefined,
): Pick<NumberInputProps, 'rightSection' | 'rightSectionWidth' | 'rightSectionPointerEvents'> {
  if (words === undefined) return {}
  const width = [...words].reduce((sum, letter) => sum + (letter > '\u2e80' ? 2 : 1), 3)
  return {
    rightSection: <small className={shared.quiet}>{words}</small>,
    rightSectionWidth: `${width}ch`,
    rightSectionPointerEvents: 'none',
  }
}
