import { Button, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { useStatus } from '../../../lib/status.ts'
import { toast } from '../../../lib/toast.ts'
import { Dialog } from '../../../ui/dialog/dialog.tsx'
import { isNumberText, type ModelPrices, noPrices, type PriceField, usdOf } from './table.ts'
import { texts } from './texts.ts'

interface AddDialogProps {
  readonly isTaken: (name: string) => boolean
  readonly onClose: () => void
  readonly onAdd: (name: string, prices: ModelPrices) => void
}

/** A model that the table does not have yet, with a price per call or with ratios. */
export function AddDialog({ isTaken, onClose, onAdd }: AddDialogProps) {
  const say = useText(texts)
  const perUsd = useStatus().quota_per_unit
  const [name, setName] = useState('')
  const [byCall, setByCall] = useState(false)
  const [values, setValues] = useState(noPrices)
  const [asked, setAsked] = useState(false)
  const fields: readonly ('price' | 'ratio' | 'completion')[] = byCall ? ['price'] : ['ratio', 'completion']
  const nameFault = name.trim() === '' ? say('nameMissing') : isTaken(name.trim()) ? say('nameTaken') : undefined
  const faultOf = (field: PriceField) => {
    const text = values[field].trim()
    // The completion ratio may stay that of the family.
    if (text === '' && field !== 'completion') return say('fillMissing')
    return isNumberText(text) ? undefined : say('notNumber')
  }

  /** A ratio's price in dollars, once it is valid. */
  function usdHint(field: 'ratio' | 'completion'): string {
    const { ratio, completion } = values
    const isKnown = ratio !== '' && isNumberText(ratio) && completion !== '' && isNumberText(completion)
    const usd = usdOf(field === 'ratio' ? ratio : isKnown ? String(Number(ratio) * Number(completion)) : '', perUsd)
    return usd === '' ? '' : `${say(field === 'ratio' ? 'input' : 'output')}: ${say('asUsd', { usd: `$${usd}` })}`
  }

  function add(): void {
    setAsked(true)
    if (nameFault || fields.some(faultOf)) return
    onAdd(name.trim(), { ...noPrices, ...Object.fromEntries(fields.map((field) => [field, values[field].trim()])) })
    toast.success(say('added'))
    onClose()
  }

  return (
    <Dialog title={say('addTitle')} size="md" onClose={onClose} footer={<Button onClick={add}>{say('add')}</Button>}>
      <Stack gap="md">
        <TextInput
          label={say('model')}
          placeholder={say('namePlaceholder')}
          value={name}
          error={(asked || isTaken(name.trim())) && nameFault}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        <SegmentedControl
          aria-label={say('mode')}
          value={byCall ? 'call' : 'tokens'}
          onChange={(next) => setByCall(next === 'call')}
          data={[
            { value: 'tokens', label: say('modeTokens') },
            { value: 'call', label: say('modePrice') },
          ]}
        />
        {fields.map((field) => (
          <TextInput
            key={field}
            label={say(field)}
            description={field === 'price' ? say('perCall') : usdHint(field)}
            placeholder={field === 'completion' ? say('family') : undefined}
            inputMode="decimal"
            value={values[field]}
            error={(asked || !isNumberText(values[field].trim())) && faultOf(field)}
            onChange={(event) => setValues({ ...values, [field]: event.currentTarget.value })}
          />
        ))}
      </Stack>
    </Dialog>
  )
}
