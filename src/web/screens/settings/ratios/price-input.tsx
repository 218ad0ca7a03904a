import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { useStatus } from '../../../lib/status.ts'
import shared from '../../../ui/shared.module.css'
import styles from './ratios.module.css'
import { isNumberText, type ModelPrices, multipleOf, type PriceField, priceFields, ratioOf, tidy, usdOf } from './table.ts'
import { priceLabels, texts } from './texts.ts'

export type Unit = 'usd' | 'ratio'

interface PriceInputProps {
  readonly name: string
  readonly field: PriceField
  readonly prices: ModelPrices
  /** The charged price where none is set here: typing over one figure adopts the others. */
  readonly fallback?: ModelPrices | undefined
  /** The multiples that apply where none is set. */
  readonly builtIn?: ModelPrices | undefined
  readonly unit: Unit
  readonly onChange: (prices: ModelPrices) => void
}

/** One figure of a model, as dollars or as the stored ratio; the other form is below. */
export function PriceInput({ name, field, prices: own, fallback, builtIn, unit, onChange }: PriceInputProps) {
  const say = useText(texts)
  const perUsd = useStatus().quota_per_unit
  const asUsd = unit === 'usd' && field !== 'price'
  const isUnset = fallback !== undefined && priceFields.every((each) => own[each] === '')
  const prices = isUnset && field !== 'price' ? { ...fallback, [field]: '' } : own
  const disabled = field !== 'price' && prices.price !== ''
  const stored = prices[field]
  // Typed dollars may have trailing zeros, which the stored ratio does not keep.
  const [typed, setTyped] = useState<{ text: string; stored: string }>()
  const read = asUsd ? shortened(shownUsd(field, prices, perUsd)) : stored
  const shown = typed?.stored === stored ? typed.text : read
  const label = say(priceLabels[unit][field])

  function placeholder(): string {
    if (field === 'price') return say('byTokens')
    const charged = isUnset ? (asUsd ? shortened(shownUsd(field, fallback, perUsd)) : fallback[field]) : ''
    if (charged || field === 'ratio') return charged || '–'
    if (!builtIn) return say('family')
    return asUsd ? shortened(shownUsd(field, { ...prices, [field]: builtIn[field] }, perUsd)) : builtIn[field]
  }

  function type(text: string): void {
    const next = asUsd ? storedOf(field, { text, prices, perUsd }) : text.trim()
    setTyped({ text, stored: next })
    onChange({ ...prices, [field]: next })
  }

  return (
    <div className={styles.figure}>
      <TextInput
        size="xs"
        inputMode="decimal"
        aria-label={`${label}: ${name}`}
        placeholder={placeholder()}
        value={shown}
        disabled={disabled}
        error={!isNumberText(stored) && say('notNumber')}
        onChange={(event) => type(event.currentTarget.value)}
      />
      {!disabled && field !== 'price' && field !== 'ratio' && stored === '' && !isUnset && builtIn && (
        <small className={shared.note}>{say('family')}</small>
      )}
      {!disabled && field !== 'price' && stored !== '' && isNumberText(stored) && (
        <small className={shared.note}>
          {asUsd
            ? say('asRatio', { ratio: Number(Number(stored).toPrecision(6)) })
            : say('asUsd', { usd: `$${shownUsd(field, prices, perUsd) || '–'}` })}
        </small>
      )}
    </div>
  )
}

/** Prices from long ratios are shown to six figures; untouched ones stay as stored. */
function shortened(text: string): string {
  return text === '' || !isNumberText(text) ? text : String(Number(Number(text).toPrecision(6)))
}

type TokenField = Exclude<PriceField, 'price'>

/** All ratios but that of the model are multiples of the price of input, so their dollars need both. */
function shownUsd(field: TokenField, prices: ModelPrices, perUsd: number): string {
  const { ratio } = prices
  if (field === 'ratio') return isNumberText(ratio) ? usdOf(ratio, perUsd) : ratio
  const multiple = prices[field]
  if (multiple === '' || !isNumberText(multiple)) return multiple
  const input = usdOf(ratio, perUsd)
  return input === '' ? '' : tidy(Number(input) * Number(multiple))
}

function storedOf(field: TokenField, { text, prices, perUsd }: { text: string; prices: ModelPrices; perUsd: number }): string {
  const trimmed = text.trim()
  if (field === 'ratio') return ratioOf(trimmed, perUsd)
  return multipleOf(trimmed, prices.ratio, perUsd) ?? trimmed
}
