import { NumberInput } from '@mantine/core'
import { formatQuota } from '../../../../../contract/quota.ts'
import { useText } from '../../../../lib/i18n.ts'
import { useStatus } from '../../../../lib/status.ts'
import styles from '../form.module.css'
import type { ChannelFormState } from '../form-values.ts'
import type { Setting } from '../setting.ts'
import { SettingNumber } from './setting-inputs.tsx'
import { texts } from './texts.ts'

/** When the channel is passed over: it answers too late, or has enough. */
export function LimitsPanel({ form, setting }: { form: ChannelFormState; setting: Setting }) {
  const say = useText(texts)
  const { quota_per_unit: perUsd } = useStatus()
  const quota = setting.members.max_quota_per_day
  const amount = formatQuota(typeof quota === 'number' ? quota : 0, { inCurrency: true, perUsd })
  return (
    <div className={styles.pair}>
      <SettingNumber
        setting={setting}
        name="first_byte_timeout_ms"
        label={say('firstByte')}
        description={say('firstByteHelp')}
        unit={say('unitSeconds')}
        times={1000}
        decimals={3}
      />
      <SettingNumber setting={setting} name="max_concurrency" label={say('concurrency')} description={say('together')} />
      <SettingNumber setting={setting} name="max_requests_per_minute" label={say('requests')} description={say('together')} />
      <SettingNumber setting={setting} name="max_tokens_per_minute" label={say('tokens')} description={say('together')} />
      <SettingNumber
        setting={setting}
        name="max_quota_per_day"
        label={say('dailyQuota')}
        description={typeof quota === 'number' ? say('dailyQuotaIs', { amount }) : say('dailyQuotaHelp')}
      />
      <SettingNumber setting={setting} name="cost_ratio" label={say('cost')} description={say('costHelp')} decimals={4} />
      <NumberInput
        label={say('maxInputTokens')}
        description={say('maxInputTokensHelp')}
        allowDecimal={false}
        allowNegative={false}
        thousandSeparator=","
        {...form.getInputProps('max_input_tokens')}
      />
    </div>
  )
}
