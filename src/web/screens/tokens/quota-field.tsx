import { Button, NumberInput, Switch } from '@mantine/core'
import { tokenPresets } from '../../../contract/entities/token.ts'
import { formatQuota } from '../../../contract/quota.ts'
import { useText } from '../../lib/i18n.ts'
import { useStatus } from '../../lib/status.ts'
import type { TokenFormState } from './form-values.ts'
import { texts } from './texts.ts'
import styles from './tokens.module.css'

/** The quota in units, with what it is in dollars; or none. */
export function QuotaField({ form }: { form: TokenFormState }) {
  const say = useText(texts)
  const { quota_per_unit: perUsd } = useStatus()
  const { remain_quota: quota, unlimited_quota: unlimited } = form.values
  const amount = formatQuota(Number(quota) || 0, { inCurrency: true, perUsd })

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
      <div className={styles.choices}>
        {tokenPresets.usd.map((usd) => (
          <Button
            key={usd}
            size="compact-sm"
            variant="default"
            disabled={unlimited}
            onClick={() => form.setFieldValue('remain_quota', Math.round(usd * perUsd))}
          >
            ${usd}
          </Button>
        ))}
      </div>
      <Switch
        mt="sm"
        label={say('unlimitedField')}
        description={say('unlimitedHelp')}
        {...form.getInputProps('unlimited_quota', { type: 'checkbox' })}
      />
    </div>
  )
}
