import { Input, NumberInput, Select } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { units } from '../../../../contract/units.ts'
import { useLocal, useText } from '../../../lib/i18n.ts'
import styles from './request-limits.module.css'
import { texts } from './texts.ts'

const lengths = [units.days, units.hours, units.minutes, units.seconds] as const

/** The props by which a form finds its field are passed on. */
interface DurationInputProps {
  readonly label?: string
  readonly description?: string
  readonly error?: ReactNode
  readonly disabled?: boolean
  /** The name of the number, where no label is shown. */
  readonly 'aria-label'?: string
  /** The name of the choice of units. */
  readonly unitLabel?: string
  /** Seconds; '' while nothing is typed. */
  readonly value?: number | string
  readonly onChange?: (seconds: number | string) => void
}

/** A whole length of time, typed in the unit that is chosen beside it. */
export function DurationInput({
  label,
  description,
  error,
  disabled = false,
  'aria-label': name = label,
  unitLabel,
  value = '',
  onChange,
  ...ofForm
}: DurationInputProps) {
  const say = useText(texts)
  const local = useLocal()
  const seconds = Number(value)
  const [chosen, setChosen] = useState(() => largestUnit(seconds))
  // The value may have been changed from outside.
  const size = seconds % chosen === 0 ? chosen : largestUnit(seconds)
  const count = value === '' ? '' : seconds / size
  return (
    <Input.Wrapper label={label} labelElement="div" description={description} error={error}>
      <div className={styles.duration}>
        <NumberInput
          {...ofForm}
          aria-label={name}
          error={Boolean(error)}
          disabled={disabled}
          value={count}
          onChange={(typed) => onChange?.(typed === '' ? '' : Number(typed) * size)}
          allowDecimal={false}
          allowNegative={false}
          hideControls
          thousandSeparator=","
        />
        <Select
          aria-label={unitLabel ?? say('unit')}
          allowDeselect={false}
          disabled={disabled}
          data={lengths.map((unit) => ({ value: String(unit.size), label: local(unit, { count: Number(count) }) }))}
          value={String(size)}
          onChange={(next) => {
            setChosen(Number(next))
            if (count !== '') onChange?.(count * Number(next))
          }}
        />
      </div>
    </Input.Wrapper>
  )
}

function largestUnit(seconds: number): number {
  return lengths.find(({ size }) => seconds > 0 && seconds % size === 0)?.size ?? 1
}
