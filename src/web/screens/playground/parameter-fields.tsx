import { SegmentedControl, Slider, Stack, Switch, TextInput } from '@mantine/core'
import { useText } from '../../lib/i18n.ts'
import shared from '../../ui/shared.module.css'
import {
  type ParameterName,
  type ParameterState,
  type ParameterStates,
  type ParameterValue,
  parameterNames,
  parameters,
} from './parameters.ts'
import styles from './playground.module.css'
import { texts } from './texts.ts'

interface ParameterFieldsProps {
  readonly states: ParameterStates
  readonly onChange: (states: ParameterStates) => void
}

/** The sampling parameters, each with a switch. */
export function ParameterFields({ states, onChange }: ParameterFieldsProps) {
  const say = useText(texts)
  return (
    <fieldset className={styles.parameters}>
      <legend className={styles.legend}>{say('parameters')}</legend>
      <p className={shared.hint}>{say('parametersHint')}</p>
      <Stack gap="md" mt="sm">
        {parameterNames.map((name) => (
          <Parameter
            key={name}
            name={name}
            state={states[name]}
            onChange={(patch) => onChange({ ...states, [name]: { ...states[name], ...patch } })}
          />
        ))}
      </Stack>
    </fieldset>
  )
}

interface ParameterProps {
  readonly name: ParameterName
  readonly state: ParameterState
  readonly onChange: (patch: Partial<ParameterState>) => void
}

function Parameter({ name, state: { on, value }, onChange }: ParameterProps) {
  const say = useText(texts)
  return (
    <Stack gap="xs">
      <div className={styles.parameterHead}>
        <Switch size="xs" label={say(name)} checked={on} onChange={(event) => onChange({ on: event.currentTarget.checked })} />
        {on && parameters[name].kind === 'range' && <output className={styles.value}>{value}</output>}
      </div>
      {on && <ParameterInput name={name} value={value} onChange={(next) => onChange({ value: next })} />}
      {on && <p className={shared.note}>{say(hints[name])}</p>}
    </Stack>
  )
}

const hints = {
  temperature: 'temperatureHint',
  max_tokens: 'maxTokensHint',
  top_p: 'topPHint',
  frequency_penalty: 'frequencyHint',
  presence_penalty: 'presenceHint',
  seed: 'seedHint',
  reasoning_effort: 'effortHint',
} as const satisfies Record<ParameterName, string>

const efforts = { minimal: 'effortMinimal', low: 'effortLow', medium: 'effortMedium', high: 'effortHigh' } as const

interface ParameterInputProps {
  readonly name: ParameterName
  readonly value: ParameterValue
  readonly onChange: (value: ParameterValue) => void
}

function ParameterInput({ name, value, onChange }: ParameterInputProps) {
  const say = useText(texts)
  const parameter = parameters[name]
  switch (parameter.kind) {
    case 'range':
      return (
        <Slider
          size="sm"
          min={parameter.min}
          max={parameter.max}
          step={parameter.step}
          label={null}
          thumbLabel={say(name)}
          value={Number(value)}
          // Adding up steps in binary fractions causes rounding errors.
          onChange={(next) => onChange(Number(next.toFixed(2)))}
        />
      )
    case 'count':
      return (
        <TextInput
          size="xs"
          aria-label={say(name)}
          inputMode="numeric"
          value={String(value)}
          onChange={(event) => onChange(Number(event.currentTarget.value.replace(/\D/g, '').slice(0, 9)))}
        />
      )
    case 'choice':
      return (
        <SegmentedControl
          size="xs"
          fullWidth
          aria-label={say(name)}
          value={String(value)}
          onChange={onChange}
          data={parameter.choices.map((choice) => ({ value: choice, label: say(efforts[choice]) }))}
        />
      )
    default:
      return parameter satisfies never
  }
}
