import { Anchor } from '@mantine/core'
import type { ChannelSetting } from '../../../contract/entities/channel.ts'
import { useText } from '../../lib/i18n.ts'
import { isJson, JsonInput, type JsonInputProps } from '../../ui/json-input.tsx'
import styles from './channels.module.css'
import { texts } from './texts.ts'

export type SettingFieldProps = Omit<JsonInputProps, 'label' | 'description' | 'minRows'>

/** The members that are known, with an example of each. */
const known = {
  proxy: { help: 'settingProxy', example: 'socks5://user:password@host:1080' },
  force_format: { help: 'settingForceFormat', example: true },
  thinking_to_content: { help: 'settingThinking', example: true },
  key_mode: { help: 'settingKeyMode', example: 'round-robin' },
  connect_timeout_ms: { help: 'settingConnect', example: 10_000 },
  headers_timeout_ms: { help: 'settingHeaders', example: 120_000 },
  idle_timeout_ms: { help: 'settingIdle', example: 60_000 },
  total_timeout_ms: { help: 'settingTotal', example: 600_000 },
  first_byte_timeout_ms: { help: 'settingFirstByte', example: 8_000 },
  max_concurrency: { help: 'settingConcurrency', example: 20 },
  max_requests_per_minute: { help: 'settingRequests', example: 60 },
  max_tokens_per_minute: { help: 'settingTokens', example: 100_000 },
  max_quota_per_day: { help: 'settingDailyQuota', example: 50_000_000 },
  cost_ratio: { help: 'settingCost', example: 0.8 },
  param_override: { help: 'settingParams', example: [{ set: 'temperature', to: 0.7, when: { model: 'gpt-4*' } }] },
  header_override: { help: 'settingHeaderOverride', example: { 'x-team': 'blue', authorization: 'Token {api_key}' } },
  system_prompt: { help: 'settingPrompt', example: 'You are the assistant of this site.' },
  system_prompt_mode: { help: 'settingPromptMode', example: 'fill' },
} as const satisfies Record<keyof ChannelSetting, { help: keyof typeof texts.keys; example: unknown }>

/** Settings as JSON, with what can stand in them. */
export function SettingField({ value, onChange, ...rest }: SettingFieldProps) {
  const say = useText(texts)
  const setting = read(value)

  const help = (
    <>
      {say('settingHelp')}
      <span className={styles.known}>
        {Object.entries(known).map(([name, { help, example }]) => (
          <span key={name} className={styles.knownRow}>
            <Anchor
              component="button"
              type="button"
              size="xs"
              ff="monospace"
              disabled={!setting || name in setting}
              onClick={() => onChange(JSON.stringify({ ...setting, [name]: example }, null, 2))}
            >
              {name}
            </Anchor>
            <span>{say(help)}</span>
          </span>
        ))}
      </span>
    </>
  )
  return <JsonInput {...rest} label={say('setting')} description={help} minRows={3} value={value} onChange={onChange} />
}

/** The object that the text holds; undefined when it holds none, so that nothing typed is lost. */
function read(text: string): object | undefined {
  if (text.trim() === '') return {}
  const value: unknown = isJson(text) ? JSON.parse(text) : undefined
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
}
