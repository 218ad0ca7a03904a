import { NumberInput, Switch } from '@mantine/core'
import { useText } from '../../lib/i18n.ts'
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
          <NumberInput label={say('seconds')} {...input} {...form.getInputProps('limit_seconds')} />
        </div>
      )}
      <Switch
        label={say('strict')}
        description={say('strictHelp')}
        {...form.getInputProps('strict_translation', { type: 'checkbox' })}
      />
      <Switch
        label={say('hostedTools')}
        description={say('hostedToolsHelp')}
        {...form.getInputProps('refuse_hosted_tools', { type: 'checkbox' })}
      />
    </>
  )
}
