import { Input, Select } from '@mantine/core'
import { type ModelRule, modelRules } from '../../../../../contract/entities/channel.ts'
import { useText } from '../../../../lib/i18n.ts'
import { isJsonObject } from '../../../../lib/json.ts'
import styles from '../form.module.css'
import type { Setting } from '../setting.ts'
import { texts } from './texts.ts'

const words = {
  replay_reasoning: ['replayReasoning', 'replayReasoningHelp'],
  think_in_streams_only: ['thinkInStreams', 'thinkInStreamsHelp'],
  call_signatures: ['callSignatures', 'callSignaturesHelp'],
  short_call_ids: ['shortCallIds', 'shortCallIdsHelp'],
} as const satisfies Record<ModelRule, unknown>

/** The rules of model families, each by the model's name, or on or off for all models of the channel. */
export function ModelRules({ setting }: { setting: Setting }) {
  const say = useText(texts)
  const saved = isJsonObject(setting.members.model_rules) ? setting.members.model_rules : {}

  function change(rule: ModelRule, choice: string | null): void {
    const { [rule]: _, ...others } = saved
    const next = choice === 'on' || choice === 'off' ? { ...others, [rule]: choice === 'on' } : others
    setting.set('model_rules', Object.keys(next).length > 0 ? next : undefined)
  }

  return (
    <Input.Wrapper
      label={say('modelRules')}
      labelElement="div"
      description={say('modelRulesHelp')}
      error={setting.errorOf('model_rules')}
    >
      <div className={styles.rulesOfModels}>
        {modelRules.map((rule) => {
          const [label, help] = words[rule]
          const isOn = saved[rule]
          return (
            <Select
              key={rule}
              label={say(label)}
              description={say(help)}
              allowDeselect={false}
              value={isOn === true ? 'on' : isOn === false ? 'off' : 'usual'}
              onChange={(choice) => change(rule, choice)}
              data={[
                { value: 'usual', label: say('ruleByName') },
                { value: 'on', label: say('ruleOn') },
                { value: 'off', label: say('ruleOff') },
              ]}
            />
          )
        })}
      </div>
    </Input.Wrapper>
  )
}
