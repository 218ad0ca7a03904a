import { type ComponentType, lazy, Suspense, useEffect, useEffectEvent } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { Disclosure } from '../../../ui/page/disclosure.tsx'
import { Notice } from '../../../ui/page/notice.tsx'
import { Tag } from '../../../ui/view/tag.tsx'
import type { ChannelFormState } from './form-values.ts'
import { faultName, type Setting, type SettingName, settingOf } from './setting.ts'
import { texts } from './texts.ts'

interface SettingPanel {
  readonly title: 'limits' | 'rewrite' | 'connection'
  /** The settings whose fields are in the panel. */
  readonly names: readonly SettingName[]
  /** Loaded when it is opened. */
  readonly Content: ComponentType<{ form: ChannelFormState; setting: Setting }>
}

const panels: readonly SettingPanel[] = [
  {
    title: 'limits',
    names: [
      'first_byte_timeout_ms',
      'max_concurrency',
      'max_requests_per_minute',
      'max_tokens_per_minute',
      'max_quota_per_day',
      'cost_ratio',
      'reasoning_beside_limit',
      'ignores_limits',
      'adds_to_prompts',
    ],
    Content: lazy(async () => ({ default: (await import('./settings/limits-panel.tsx')).LimitsPanel })),
  },
  {
    title: 'rewrite',
    names: ['system_prompt', 'system_prompt_mode', 'param_override', 'header_override'],
    Content: lazy(async () => ({ default: (await import('./settings/rewrite-panel.tsx')).RewritePanel })),
  },
  {
    title: 'connection',
    names: [
      'proxy',
      'force_format',
      'thinking_to_content',
      'refuse_hosted_tools',
      'model_rules',
      'passed_headers',
      'lacks_endpoints',
      'connect_timeout_ms',
      'headers_timeout_ms',
      'idle_timeout_ms',
      'total_timeout_ms',
    ],
    Content: lazy(async () => ({ default: (await import('./settings/connection-panel.tsx')).ConnectionPanel })),
  },
]

/** Loaded with the panel. */
const SettingField = lazy(async () => ({ default: (await import('./settings/setting-field.tsx')).SettingField }))

interface SettingPanelsProps {
  readonly form: ChannelFormState
  /** The fields of a panel are rendered for the first time. */
  readonly onDrawn: () => void
}

/** Settings that most channels leave at their defaults. A part with a fault is opened automatically. */
export function SettingPanels({ form, onDrawn }: SettingPanelsProps) {
  const say = useText(texts)
  const setting = settingOf(form)
  return (
    <>
      {panels.map(({ title, names, Content }) => (
        <Disclosure
          key={title}
          title={say(title)}
          hint={say(`${title}Hint`)}
          opens={setting?.hasError(names) === true || (title === 'connection' && Boolean(form.errors.status_code_mapping))}
          aside={setting && <CountOfSet setting={setting} names={names} />}
        >
          {setting ? (
            <Suspense>
              <Content form={form} setting={setting} />
              <Drawn onDrawn={onDrawn} />
            </Suspense>
          ) : (
            <Notice kind="warn">{say('settingBroken')}</Notice>
          )}
        </Disclosure>
      ))}
      <Disclosure title={say('setting')} hint={say('settingHint')} opens={Boolean(form.errors.setting)}>
        <Suspense>
          <SettingField
            {...form.getInputProps('setting')}
            value={form.values.setting}
            onChange={(text) => {
              form.setFieldValue('setting', text)
              for (const name of panels.flatMap(({ names }) => names)) form.clearFieldError(faultName(name))
            }}
          />
          <Drawn onDrawn={onDrawn} />
        </Suspense>
      </Disclosure>
    </>
  )
}

/** Shown beside lazy content, as soon as that is loaded. */
function Drawn({ onDrawn }: Pick<SettingPanelsProps, 'onDrawn'>) {
  const tell = useEffectEvent(onDrawn)
  // Outside of React: the focus.
  useEffect(() => void tell(), [])
  return null
}

function CountOfSet({ setting, names }: { setting: Setting; names: readonly SettingName[] }) {
  const say = useText(texts)
  const count = setting.count(names)
  return count === 0 ? null : <Tag color="sluice">{say('countOfSet', { count })}</Tag>
}
