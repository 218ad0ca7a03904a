import { Anchor } from '@mantine/core'
import type { ChannelSetting } from '../../../../../contract/entities/channel.ts'
import { useText } from '../../../../lib/i18n.ts'
import { JsonInput, type JsonInputProps } from '../../../../ui/form/json-input.tsx'
import styles from '../form.module.css'
import { readMembers, withMembers } from '../members.ts'
import { texts } from './texts.ts'

type SettingFieldProps = Omit<JsonInputProps, 'label' | 'description' | 'minRows'>

/** The members that are known, with an example of each. */
const known = {
  proxy: 'socks5://user:password@host:1080',
  force_format: true,
  thinking_to_content: true,
  refuse_hosted_tools: true,
  lacks_endpoints: ['responses'],
  model_rules: { replay_reasoning: true, think_in_streams_only: false },
  passed_headers: ['session_id', 'x-codex-turn-state'],
  key_mode: 'round-robin',
  connect_timeout_ms: 10_000,
  headers_timeout_ms: 120_000,
  idle_timeout_ms: 60_000,
  total_timeout_ms: 600_000,
  first_byte_timeout_ms: 8_000,
  max_concurrency: 20,
  max_requests_per_minute: 60,
  max_tokens_per_minute: 100_000,
  max_quota_per_day: 50_000_000,
  cost_ratio: 0.8,
  reasoning_beside_limit: true,
  ignores_limits: true,
  adds_to_prompts: true,
  param_override: [{ set: 'temperature', to: 0.7, when: { model: 'gpt-4*' } }],
  header_override: { 'x-team': 'blue', authorization: 'Token {api_key}' },
  system_prompt: 'You are the assistant of this site.',
  system_prompt_mode: 'fill',
} as const satisfies Record<keyof ChannelSetting, unknown>

/** All settings as JSON, with a list of the valid members. */
export function SettingField({ value, onChange, ...rest }: SettingFieldProps) {
  const say = useText(texts)
  const members = readMembers(value)

  const help = (
    <>
      {say('settingHelp')}
      <span className={styles.known}>
        {Object.entries(known).map(([name, example]) => (
          <Anchor
            key={name}
            component="button"
            type="button"
            size="xs"
            ff="monospace"
            disabled={!members || name in members}
            onClick={() => onChange(withMembers(value, { [name]: example }))}
          >
            <code>{name}</code>
          </Anchor>
        ))}
      </span>
    </>
  )
  return <JsonInput {...rest} label={say('settingJson')} description={help} minRows={3} value={value} onChange={onChange} />
}
