import { Switch } from '@mantine/core'
import { tokenPresets } from '../../../contract/entities/token.ts'
import { useText } from '../../lib/i18n.ts'
import { Choices } from '../../ui/form/choices.tsx'
import { useDollarOffers } from '../../ui/form/dollar-offers.ts'
import { QuotaInput } from '../../ui/form/quota-input.tsx'
import type { TokenFormState } from './form-values.ts'
import { texts } from './texts.ts'

/** The quota, or none. */
export function QuotaField({ form }: { form: TokenFormState }) {
  const say = useText(texts)
  const { unlimited_quota: unlimited } = form.values

  return (
    <div>
      <QuotaInput
        label={say('quota')}
        description={say('quotaHelp')}
        disabled={unlimited}
        {...form.getInputProps('remain_quota')}
      />
      <Choices
        disabled={unlimited}
        offers={useDollarOffers()(tokenPresets.usd, (quota) => form.setFieldValue('remain_quota', quota))}
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
