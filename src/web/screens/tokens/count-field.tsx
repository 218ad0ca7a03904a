import { NumberInput } from '@mantine/core'
import { tokenPresets } from '../../../contract/entities/token.ts'
import { useText } from '../../lib/i18n.ts'
import { Choices } from '../../ui/choices.tsx'
import type { TokenFormState } from './form-values.ts'
import { texts } from './texts.ts'

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
      <Choices
        offers={tokenPresets.counts.map((count) => ({
          label: say('countChoice', { count }),
          onClick: () => form.setFieldValue('count', count),
        }))}
      />
    </div>
  )
}
