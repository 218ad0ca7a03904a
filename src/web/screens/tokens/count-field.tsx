import { Button, NumberInput } from '@mantine/core'
import { tokenPresets } from '../../../contract/entities/token.ts'
import { useText } from '../../lib/i18n.ts'
import type { TokenFormState } from './form-values.ts'
import { texts } from './texts.ts'
import styles from './tokens.module.css'

export function CountField({ form }: { form: TokenFormState }) {
  const say = useText(texts)
  return (
    <div>
      <NumberInput
        label={say('count')}
        description={say('countHelp')}
        allowDecimal={false}
        allowNegative={false}
        {...form.getInputProps('count')}
      />
      <div className={styles.choices}>
        {tokenPresets.counts.map((count) => (
          <Button key={count} size="compact-sm" variant="default" onClick={() => form.setFieldValue('count', count)}>
            {say('countChoice', { count })}
          </Button>
        ))}
      </div>
    </div>
  )
}
