import { units } from '../../../contract/units.ts'
import { useText } from '../../lib/i18n.ts'
import { useStatus } from '../../lib/status.ts'
import { Choices } from '../form/choices.tsx'
import { NumberField, type NumberFieldProps } from '../form/number-field.tsx'
import { texts } from './texts.ts'

const presetsUsd = [1, 5, 10, 50, 100]

/** The amount of a budget in units, typed in dollars where the site shows them. */
export function AmountField(props: Pick<NumberFieldProps, 'value' | 'onChange' | 'error'>) {
  const say = useText(texts)
  const { quota_per_unit: perUsd } = useStatus()
  return (
    <div>
      <NumberField label={say('amount')} unit={units.quota} decimalScale={6} allowNegative={false} withAsterisk {...props} />
      <Choices
        offers={presetsUsd.map((usd) => ({ label: `$${usd}`, onClick: () => props.onChange(String(Math.round(usd * perUsd))) }))}
      />
    </div>
  )
}
