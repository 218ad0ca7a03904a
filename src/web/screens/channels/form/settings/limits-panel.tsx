import { NumberInput, Select } from '@mantine/core'
import { units } from '../../../../../contract/units.ts'
import { formatCount } from '../../../../lib/format.ts'
import { useLocal, useText } from '../../../../lib/i18n.ts'
import styles from '../form.module.css'
import type { ChannelFormState } from '../form-values.ts'
import type { Setting } from '../setting.ts'
import { SettingNumber, SettingQuota, SettingSwitch } from './setting-inputs.tsx'
import { texts } from './texts.ts'

/**
 * When the channel is skipped because it is too slow or its limits are reached, and how it treats the output limits and prompts of
 * requests.
 */
export function LimitsPanel({ form, setting }: { form: ChannelFormState; setting: Setting }) {
  const say = useText(texts)
  const { adds_to_prompts: adds } = setting.members
  const local = useLocal()
  return (
    <>
      <div className={styles.pair}>
        <SettingNumber
          setting={setting}
          name="first_byte_timeout_ms"
          label={say('firstByte')}
          description={say('firstByteHelp')}
          unit={units.seconds}
          times={1000}
          decimals={3}
        />
        <SettingNumber
          setting={setting}
          name="max_concurrency"
          label={say('concurrency')}
          description={say('together')}
          presets={countPresets([5, 20, 100])}
        />
        <SettingNumber
          setting={setting}
          name="max_requests_per_minute"
          label={say('requests')}
          description={say('together')}
          unit={units.requests}
          presets={countPresets([60, 300, 1000])}
        />
        <SettingNumber
          setting={setting}
          name="max_tokens_per_minute"
          label={say('tokens')}
          description={say('together')}
          unit={units.tokens}
          presets={countPresets([100_000, 1_000_000, 5_000_000])}
        />
        <SettingQuota
          setting={setting}
          name="max_quota_per_day"
          label={say('dailyQuota')}
          description={say('dailyQuotaHelp')}
          presetsUsd={[10, 50, 100]}
        />
        <SettingNumber setting={setting} name="cost_ratio" label={say('cost')} description={say('costHelp')} decimals={4} />
        <NumberInput
          label={say('maxInputTokens')}
          description={say('maxInputTokensHelp')}
          allowDecimal={false}
          allowNegative={false}
          thousandSeparator=","
          suffix={` ${local(units.tokens, { count: Number(form.values.max_input_tokens) })}`}
          {...form.getInputProps('max_input_tokens')}
        />
      </div>
      <div className={styles.pair}>
        <SettingSwitch
          setting={setting}
          name="reasoning_beside_limit"
          label={say('reasoningBeside')}
          description={say('reasoningBesideHelp')}
        />
        <SettingSwitch
          setting={setting}
          name="ignores_limits"
          label={say('ignoresLimits')}
          description={say('ignoresLimitsHelp')}
        />
      </div>
      <Select
        label={say('addsToPrompts')}
        description={say('addsToPromptsHelp')}
        allowDeselect={false}
        value={typeof adds === 'boolean' ? String(adds) : 'learnt'}
        onChange={(next) => setting.set('adds_to_prompts', next === 'learnt' ? undefined : next === 'true')}
        data={[
          { value: 'learnt', label: say('addsLearnt') },
          { value: 'true', label: say('addsAlways') },
          { value: 'false', label: say('addsNever') },
        ]}
      />
    </>
  )
}

const countPresets = (counts: readonly number[]) => counts.map((value) => ({ label: formatCount(value), value }))
