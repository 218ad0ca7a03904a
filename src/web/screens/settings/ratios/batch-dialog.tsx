import { Button, Radio, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { useStatus } from '../../../lib/status.ts'
import { toast } from '../../../lib/toast.ts'
import { Dialog } from '../../../ui/dialog/dialog.tsx'
import shared from '../../../ui/shared.module.css'
import { type BatchMode, batchFields, filledIn, isAnyEnough } from './batch.ts'
import { BatchPreview } from './batch-preview.tsx'
import { isNumberText, type ModelPrices, noPrices, type OptionTexts, type PriceDrafts, type PriceTable } from './table.ts'
import { priceLabels, texts } from './texts.ts'

const modes = [
  { mode: 'usd', label: 'batchUsd' },
  { mode: 'price', label: 'price' },
  { mode: 'ratio', label: 'ratio' },
  { mode: 'completion', label: 'completion' },
  { mode: 'both', label: 'batchBoth' },
  { mode: 'cache', label: 'batchCache' },
] as const satisfies readonly { mode: BatchMode; label: keyof typeof texts }[]

interface BatchDialogProps {
  readonly models: readonly string[]
  readonly table: PriceTable
  readonly options: OptionTexts
  readonly onClose: () => void
  readonly onFill: (filled: PriceDrafts) => void
}

/** Sets values of many models at once, with a preview of their prices. */
export function BatchDialog({ models, table, options, onClose, onFill }: BatchDialogProps) {
  const say = useText(texts)
  const perUsd = useStatus().quota_per_unit
  const [mode, setMode] = useState<BatchMode>('usd')
  const [values, setValues] = useState(noPrices)
  const fields = batchFields[mode]
  const given: ModelPrices = { ...noPrices, ...Object.fromEntries(fields.map((field) => [field, values[field].trim()])) }
  const isEmpty = fields.every((field) => given[field] === '')
  const areNumbers = fields.every((field) => isNumberText(given[field]))
  const isWhole = isAnyEnough(mode) ? !isEmpty : fields.every((field) => given[field] !== '')
  const filled = models.map((name) => [name, filledIn(mode, given, table[name] ?? noPrices, perUsd)] as const)

  function choose(next: BatchMode): void {
    // Values in dollars are not valid as ratios.
    if ((next === 'usd') !== (mode === 'usd')) setValues(noPrices)
    setMode(next)
  }

  function faultOf(): string | undefined {
    if (!isWhole) return say(mode === 'both' ? 'bothMissing' : 'fillMissing')
    if (!areNumbers) return say('notNumbers', { models: fields.map((field) => given[field]).join(', ') })
    const lacking = filled.flatMap(([name, prices]) => (prices ? [] : [name]))
    return lacking.length > 0 ? say('noInput', { models: lacking.join(', ') }) : undefined
  }

  function fill(): void {
    const fault = faultOf()
    if (fault) {
      toast.error(fault)
      return
    }
    onFill(Object.fromEntries(filled.flatMap(([name, prices]) => (prices ? [[name, prices]] : []))))
    toast.success(say('batchDone'))
    onClose()
  }

  return (
    <Dialog
      title={say('batchTitle', { count: models.length })}
      size="lg"
      onClose={onClose}
      footer={<Button onClick={fill}>{say('batchApply')}</Button>}
    >
      <Stack gap="md">
        {/* The group only returns values that it was given. */}
        <Radio.Group label={say('batchField')} value={mode} onChange={(next) => choose(next as BatchMode)}>
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing="xs" mt="xs">
            {modes.map(({ mode: value, label }) => (
              <Radio key={value} value={value} label={say(label)} />
            ))}
          </SimpleGrid>
        </Radio.Group>
        <SimpleGrid cols={Math.min(2, fields.length)} spacing="md" verticalSpacing="md">
          {fields.map((field) => (
            <TextInput
              key={field}
              label={say(priceLabels[mode === 'usd' ? 'usd' : 'ratio'][field])}
              description={field === 'price' ? say('perCall') : mode === 'usd' ? say('perMillion') : undefined}
              inputMode="decimal"
              value={values[field]}
              error={!isNumberText(given[field]) && say('notNumber')}
              onChange={(event) => setValues({ ...values, [field]: event.currentTarget.value })}
            />
          ))}
        </SimpleGrid>
        {mode === 'usd' && <p className={shared.note}>{say('batchUsdHint')}</p>}
        {isWhole && areNumbers && <BatchPreview filled={filled} table={table} options={options} />}
      </Stack>
    </Dialog>
  )
}
