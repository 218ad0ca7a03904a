import { MultiSelect, NumberInput, Switch } from '@mantine/core'
import { useState } from 'react'
import type { Unit } from '../../../../../contract/units.ts'
import { useLocal } from '../../../../lib/i18n.ts'
import { inLargerUnits } from '../../../../lib/measures.ts'
import { Choices } from '../../../../ui/form/choices.tsx'
import { useDollarOffers } from '../../../../ui/form/dollar-offers.ts'
import { beside } from '../../../../ui/form/number-field.tsx'
import { QuotaInput } from '../../../../ui/form/quota-input.tsx'
import type { Setting, SettingName } from '../setting.ts'

interface SettingInputProps {
  readonly setting: Setting
  readonly name: SettingName
  readonly label: string
  readonly description?: string | undefined
}

interface SettingNumberProps extends SettingInputProps {
  /** Shown beside the number, with the value in larger units where there are some. */
  readonly unit?: Unit | undefined
  /** The value of the member for one unit: 1000 for seconds if the member is in milliseconds. */
  readonly times?: number
  readonly decimals?: number
  readonly placeholder?: string
  /** Frequent values, below the field. */
  readonly presets?: readonly { readonly label: string; readonly value: number }[]
}

/** The input of a number among the settings; an empty one removes the setting. */
export function SettingNumber({
  setting,
  name,
  unit: measure,
  times = 1,
  decimals = 0,
  placeholder = '',
  presets = [],
  ...rest
}: SettingNumberProps) {
  const local = useLocal()
  const saved = setting.members[name]
  const shown = typeof saved === 'number' ? saved / times : typeof saved === 'string' ? saved : ''
  // Input is kept as typed, such as a number that ends with its point.
  const [typed, setTyped] = useState<{ text: number | string; saved: unknown }>({ text: shown, saved })
  const value = typed.saved === saved ? typed.text : shown

  function change(text: number | string): void {
    const number = text === '' ? undefined : Math.round(Number(text) * times * 1e6) / 1e6
    setTyped({ text, saved: number })
    setting.set(name, number)
  }
  const count = Number(value)
  const unit = measure && local(measure, { count })
  const larger = measure && inLargerUnits(count, measure, local)
  return (
    <div>
      <NumberInput
        {...rest}
        {...beside(larger && `= ${larger}`)}
        // The unit is shown before a value is entered.
        placeholder={unit ? `${placeholder} ${unit}`.trim() : placeholder}
        value={value}
        onChange={change}
        error={setting.errorOf(name)}
        suffix={unit && ` ${unit}`}
        allowDecimal={decimals > 0}
        decimalScale={decimals}
        allowNegative={false}
        thousandSeparator=","
      />
      {presets.length > 0 && (
        <Choices offers={presets.map((preset) => ({ label: preset.label, onClick: () => change(preset.value) }))} />
      )}
    </div>
  )
}

interface SettingQuotaProps extends SettingInputProps {
  /** Frequent amounts in dollars, below the field. */
  readonly presetsUsd: readonly number[]
}

/** The input of an amount of quota among the settings; an empty one removes the setting. */
export function SettingQuota({ setting, name, presetsUsd, ...rest }: SettingQuotaProps) {
  const offersOf = useDollarOffers()
  const saved = setting.members[name]
  return (
    <div>
      <QuotaInput
        {...rest}
        value={saved === undefined ? '' : Number(saved)}
        // What is no amount stays in the settings as text, so that they cannot be saved.
        onChange={(quota) => setting.set(name, quota === '' ? undefined : Number.isNaN(quota) ? String(quota) : quota)}
        error={setting.errorOf(name)}
      />
      <Choices offers={offersOf(presetsUsd, (quota) => setting.set(name, quota))} />
    </div>
  )
}

/** A switch among the settings; turning it off removes the setting. */
export function SettingSwitch({ setting, name, ...rest }: SettingInputProps) {
  return (
    <Switch
      {...rest}
      checked={setting.members[name] === true}
      error={setting.errorOf(name)}
      onChange={(event) => setting.set(name, event.currentTarget.checked || undefined)}
    />
  )
}

/** A multiple choice among the settings; choosing nothing removes the setting. */
export function SettingChoices({ setting, name, data, ...rest }: SettingInputProps & { readonly data: readonly string[] }) {
  const saved = setting.members[name]
  return (
    <MultiSelect
      {...rest}
      data={[...data]}
      value={Array.isArray(saved) ? saved.filter((value) => typeof value === 'string') : []}
      error={setting.errorOf(name)}
      onChange={(values) => setting.set(name, values.length > 0 ? values : undefined)}
      hidePickedOptions
    />
  )
}

/** The props of a text input among the settings; an empty one removes the setting. */
export function textInputProps(setting: Setting, name: SettingName) {
  const value = setting.members[name]
  return {
    value: typeof value === 'string' ? value : '',
    error: setting.errorOf(name),
    onChange: (event: { currentTarget: { value: string } }) => setting.set(name, event.currentTarget.value || undefined),
  }
}
