import { Select, Textarea } from '@mantine/core'
import { useText } from '../../../../lib/i18n.ts'
import type { Setting } from '../setting.ts'
import { HeadersEditor } from './headers-editor.tsx'
import { RulesEditor } from './rules-editor.tsx'
import { textInputProps } from './setting-inputs.tsx'
import { texts } from './texts.ts'

/** The channel's additions and changes to requests. */
export function RewritePanel({ setting }: { setting: Setting }) {
  const say = useText(texts)
  const mode = setting.members.system_prompt_mode === 'fill' ? 'fill' : 'prepend'
  return (
    <>
      <div>
        <Textarea
          label={say('prompt')}
          description={say('promptHelp')}
          autosize
          minRows={2}
          maxRows={12}
          {...textInputProps(setting, 'system_prompt')}
        />
        {setting.members.system_prompt !== undefined && (
          <Select
            mt="sm"
            label={say('promptMode')}
            allowDeselect={false}
            value={mode}
            onChange={(next) => setting.set('system_prompt_mode', next === 'fill' ? 'fill' : undefined)}
            data={[
              { value: 'prepend', label: say('promptPrepend') },
              { value: 'fill', label: say('promptFill') },
            ]}
          />
        )}
      </div>
      <RulesEditor setting={setting} />
      <HeadersEditor setting={setting} />
    </>
  )
}
