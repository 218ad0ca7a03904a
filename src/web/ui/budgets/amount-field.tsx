import { NumberInput, type NumberInputProps } from '@mantine/core'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { useStatus } from '../../lib/status.ts'
import { Choices } from '../choices.tsx'
import { texts } from './texts.ts'

const presetsUsd = [1, 5, 10, 50, 100]

/** An amount in US dollars, with the units behind it. */
export function AmountField(props: NumberInputProps) {
  const say = useText(texts)
  const { quota_per_unit: perUsd } = useStatus()
  const units = Math.round((Number(props.value) || 0) * perUsd)
  return (
    <div>
      <NumberInput
        label={say('amount')}
        description={say('amountHelp', { units: formatCount(units) })}
        prefix="$"
        decimalScale={6}
        allowNegative={false}
        thousandSeparator=","
        withAsterisk
        {...props}
      />
      <Choices offers={presetsUsd.map((usd) => ({ label: `$${usd}`, onClick: () => props.onChange?.(usd) }))} />
    </div>
  )
}
