import { TextInput } from '@mantine/core'
import { optionalEndpoints, passableHeaders } from '../../../../../contract/entities/channel.ts'
import { units } from '../../../../../contract/units.ts'
import { useText } from '../../../../lib/i18n.ts'
import { JsonInput } from '../../../../ui/form/json-input.tsx'
import styles from '../form.module.css'
import type { ChannelFormState } from '../form-values.ts'
import type { Setting } from '../setting.ts'
import { ModelRules } from './model-rules.tsx'
import { SettingChoices, SettingNumber, SettingSwitch, textInputProps } from './setting-inputs.tsx'
import { texts } from './texts.ts'

const deadlines = [
  ['connect_timeout_ms', 'connectTimeout'],
  ['headers_timeout_ms', 'headersTimeout'],
  ['idle_timeout_ms', 'idleTimeout'],
  ['total_timeout_ms', 'totalTimeout'],
] as const

/** Proxy, timeouts, and handling of the upstream's responses. */
export function ConnectionPanel({ form, setting }: { form: ChannelFormState; setting: Setting }) {
  const say = useText(texts)
  return (
    <>
      <TextInput
        label={say('proxy')}
        description={say('proxyHelp')}
        placeholder="socks5://user:password@host:1080"
        inputMode="url"
        spellCheck={false}
        {...textInputProps(setting, 'proxy')}
      />
      <div className={styles.pair}>
        {deadlines.map(([name, label]) => (
          <SettingNumber
            key={name}
            setting={setting}
            name={name}
            label={say(label)}
            placeholder={say('usual')}
            unit={units.seconds}
            times={1000}
            decimals={3}
          />
        ))}
      </div>
      <SettingSwitch setting={setting} name="thinking_to_content" label={say('thinking')} description={say('thinkingHelp')} />
      <SettingSwitch setting={setting} name="force_format" label={say('forceFormat')} description={say('forceFormatHelp')} />
      <SettingSwitch
        setting={setting}
        name="refuse_hosted_tools"
        label={say('hostedTools')}
        description={say('hostedToolsHelp')}
      />
      <ModelRules setting={setting} />
      <SettingChoices
        setting={setting}
        name="passed_headers"
        label={say('passedHeaders')}
        description={say('passedHeadersHelp')}
        data={passableHeaders}
      />
      <SettingChoices
        setting={setting}
        name="lacks_endpoints"
        label={say('lacks')}
        description={say('lacksHelp')}
        data={optionalEndpoints}
      />
      <JsonInput
        label={say('statusMapping')}
        description={say('statusMappingHelp')}
        placeholder={'{"400": "500"}'}
        minRows={2}
        {...form.getInputProps('status_code_mapping')}
        value={form.values.status_code_mapping}
      />
    </>
  )
}
