import { Button, Radio, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { toast } from '../../../lib/toast.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { isNumberText, type ModelPrices } from './table.ts'
import { texts } from './texts.ts'

const modes = ['price', 'ratio', 'completion', 'both'] as const
type Mode = (typeof modes)[number]

export interface BatchDialogProps {
  readonly models: readonly string[]
  readonly onClose: () => void
  /** What is filled in; what is absent stays as it is. */
  readonly onFill: (patch: Partial<ModelPrices>) => void
}

/** Fills one value, or both ratios, into many models at once. */
export function BatchDialog({ models, onClose, onFill }: BatchDialogProps) {
  const say = useText(texts)
  const [mode, setMode] = useState<Mode>('ratio')
  const [values, setValues] = useState({ price: '', ratio: '', completion: '' })
  const fields = mode === 'both' ? (['ratio', 'completion'] as const) : [mode]

  function fill(): void {
    const given = fields.map((field) => values[field].trim())
    const fault = given.some((value) => value === '')
      ? say(mode === 'both' ? 'bothMissing' : 'fillMissing')
      : given.every(isNumberText)
        ? undefined
        : say('notNumbers', { models: given.join(', ') })
    if (fault) {
      toast.error(fault)
      return
    }
    const patch = Object.fromEntries(fields.map((field) => [field, values[field].trim()]))
    // A fixed price takes the place of the ratios, and the other way round.
    onFill(mode === 'price' ? { ...patch, ratio: '', completion: '' } : { ...patch, price: '' })
    toast.success(say('batchDone'))
    onClose()
  }

  return (
    <Dialog
      title={say('batchTitle', { count: models.length })}
      size="md"
      onClose={onClose}
      footer={<Button onClick={fill}>{say('batchApply')}</Button>}
    >
      <Stack gap="md">
        {/* The group answers only with values that it was given. */}
        <Radio.Group label={say('batchField')} value={mode} onChange={(next) => setMode(next as Mode)}>
          <Stack gap="xs" mt="xs">
            {modes.map((value) => (
              <Radio key={value} value={value} label={say(value === 'both' ? 'batchBoth' : value)} />
            ))}
          </Stack>
        </Radio.Group>
        {fields.map((field) => (
          <TextInput
            key={field}
            label={say(field)}
            description={field === 'price' ? say('perCall') : undefined}
            inputMode="decimal"
            value={values[field]}
            error={!isNumberText(values[field].trim()) && say('notNumber')}
            onChange={(event) => setValues({ ...values, [field]: event.currentTarget.value })}
          />
        ))}
      </Stack>
    </Dialog>
  )
}
