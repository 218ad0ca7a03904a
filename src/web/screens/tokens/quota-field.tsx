import { NumberInput, Switch } from '@mantine/core'
import { tokenPresets } from '../../../contract/entities/token.ts'
import { useDollarsOf } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { useStatus } from '../../lib/status.ts'
import { Choices } from '../../ui/form/choices.tsx'
import type { TokenFormState } from './form-values.ts'
import { texts } from './texts.ts'

/** The quota in units, with its value in dollars; or none. */
export function QuotaField({ form }: { form: TokenFormState }) {
  const say = useText(texts)
  const { quota_per_unit: perUsd } = useStatus()
  const { remain_quota: quota, unlimited_quota: unlimited } = form.values
  const amount = useDollarsOf()(quota)

  return (
    <div>
      <NumberInput
        label={say('quota')}
        description={`${say('equivalent', { amount })} · ${say('quotaHelp')}`}
        allowDecimal={false}
        allowNegative={false}
        thousandSeparator=","
        disabled={unlimited}
        {...form.getInputProps('remain_quota')}
      />
      <Choices
        disabled={unlimited}
        offers={tokenPresets.usd.map((usd) => ({
          label: `$${usd}`,
          onClick: () => form.setFieldValue('remain_quota', Math.round(usd * perUsd)),
        }))}
      />
      <Switch
        mt="sm"
        label={say('unlimitedField')}
        description={say('unlimitedHelp')}
        {...form.getInputProps('unlimited_quota', { type: 'checkbox' })}
      />
    </div>
  )
}
