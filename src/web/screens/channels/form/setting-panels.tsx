import { useText } from '../../../lib/i18n.ts'
import { Disclosure } from '../../../ui/disclosure.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { Tag } from '../../../ui/tag.tsx'
import { ConnectionPanel, connectionNames } from './connection-panel.tsx'
import type { ChannelFormState } from './form-values.ts'
import { LimitsPanel, limitNames } from './limits-panel.tsx'
import { RewritePanel, rewriteNames } from './rewrite-panel.tsx'
import { faultName, type Setting, type SettingName, settingOf } from './setting.ts'
import { SettingField } from './setting-field.tsx'
import { texts } from './texts.ts'

const panels = [
  { title: 'limits', hint: 'limitsHint', names: limitNames, Content: LimitsPanel },
  { title: 'rewrite', hint: 'rewriteHint', names: rewriteNames, Content: RewritePanel },
  { title: 'connection', hint: 'connectionHint', names: connectionNames, Content: ConnectionPanel },
] as const

/** What most channels leave as it is. A part with a fault opens by itself. */
export function SettingPanels({ form }: { form: ChannelFormState }) {
  const say = useText(texts)
  const setting = settingOf(form)
  return (
    <>
      {panels.map(({ title, hint, names, Content }) => (
        <Disclosure
          key={title}
          title={say(title)}
          hint={say(hint)}
          opens={setting?.hasError(names) === true || (title === 'connection' && Boolean(form.errors.status_code_mapping))}
          aside={setting && <CountOfSet setting={setting} names={names} />}
        >
          {setting ? <Content form={form} setting={setting} /> : <Notice kind="warn">{say('settingBroken')}</Notice>}
        </Disclosure>
      ))}
      <Disclosure title={say('setting')} hint={say('settingHint')} opens={Boolean(form.errors.setting)}>
        <SettingField
          {...form.getInputProps('setting')}
          value={form.values.setting}
          onChange={(text) => {
            form.setFieldValue('setting', text)
            for (const name of panels.flatMap(({ names }): readonly SettingName[] => names)) form.clearFieldError(faultName(name))
          }}
        />
      </Disclosure>
    </>
  )
}

function CountOfSet({ setting, names }: { setting: Setting; names: readonly SettingName[] }) {
  const say = useText(texts)
  const count = setting.count(names)
  return count === 0 ? null : <Tag color="sluice">{say('countOfSet', { count })}</Tag>
}
