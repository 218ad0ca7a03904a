import { NumberInput, Switch } from '@mantine/core'
import type { RequestLimit } from '../../../contract/entities/request-limit.ts'
import { useText } from '../../lib/i18n.ts'
import { Choices } from '../../ui/form/choices.tsx'
import { DurationInput } from '../../ui/form/request-limits/duration-input.tsx'
import { limitPresets } from '../../ui/form/request-limits/presets.ts'
import { texts as presetTexts } from '../../ui/form/request-limits/texts.ts'
import type { TokenFormState } from './form-values.ts'
import { limitTexts } from './limit-texts.ts'
import styles from './tokens.module.css'

const amounts = ['requests', 'tokens', 'concurrency'] as const

/** The rate limits of the token: requests and tokens per period, and concurrent requests. */
export function LimitFields({ form }: { form: TokenFormState }) {
  const say = useText(limitTexts)
  const input = { allowDecimal: false, allowNegative: false, thousandSeparator: ',' } as const
  return (
    <>
      <Switch label={say('toggle')} description={say('toggleHelp')} {...form.getInputProps('limited', { type: 'checkbox' })} />
      {form.values.limited && (
        <div className={styles.limits}>
          {amounts.map((name) => (
            <NumberInput
              key={name}
              label={say(name)}
              description={say('none')}
              {...input}
              {...form.getInputProps(`limit_${name}`)}
            />
          ))}
          <DurationInput label={say('window')} description={say('windowHelp')} {...form.getInputProps('limit_seconds')} />
        </div>
      )}
      {form.values.limited && <Presets form={form} />}
    </>
  )
}

/** A preset of another window replaces the amounts of the old one; concurrent requests have no window. */
function Presets({ form }: { form: TokenFormState }) {
  const say = useText(presetTexts)
  const fill = (preset: RequestLimit) => {
    const { requests, tokens, concurrency } = preset
    if (requests + tokens > 0) {
      const isSameWindow = Number(form.values.limit_seconds) === preset.seconds
      form.setFieldValue('limit_seconds', preset.seconds)
      if (requests > 0 || !isSameWindow) form.setFieldValue('limit_requests', requests)
      if (tokens > 0 || !isSameWindow) form.setFieldValue('limit_tokens', tokens)
    }
    if (concurrency > 0) form.setFieldValue('limit_concurrency', concurrency)
  }
  return <Choices offers={limitPresets.map(({ label, limit }) => ({ label: say(label), onClick: () => fill(limit) }))} />
}
