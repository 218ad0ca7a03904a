import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { useStatus } from '../../../lib/status.ts'
import styles from './ratios.module.css'
import { isNumberText, type ModelPrices, type PriceField, ratioOf, tidy, usdOf } from './table.ts'
import { texts } from './texts.ts'

export type Unit = 'usd' | 'ratio'

export interface PriceInputProps {
  readonly name: string
  readonly field: PriceField
  readonly prices: ModelPrices
  readonly unit: Unit
  readonly onChange: (prices: ModelPrices) => void
}

/** One figure of a model, as dollars or as the ratio that is stored; what it is in the other stands below. */
export function PriceInput({ name, field, prices, unit, onChange }: PriceInputProps) {
  const say = useText(texts)
  const perUsd = useStatus().quota_per_unit
  const asUsd = unit === 'usd' && field !== 'price'
  const disabled = field !== 'price' && prices.price !== ''
  const stored = prices[field]
  // Dollars that are typed may have zeros at their end, which the stored ratio does not tell.
  const [typed, setTyped] = useState<{ text: string; stored: string }>()
  const read = asUsd ? shortened(shownUsd(field, prices, perUsd)) : stored
  const shown = typed?.stored === stored ? typed.text : read
  const label = say(
    field === 'price' ? 'price' : field === 'ratio' ? (asUsd ? 'input' : 'ratio') : asUsd ? 'output' : 'completion',
  )

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
        placeholder={field === 'price' ? say('byTokens') : field === 'completion' ? say('family') : '–'}
        value={shown}
        disabled={disabled}
        error={!isNumberText(stored) && say('notNumber')}
        onChange={(event) => type(event.currentTarget.value)}
      />
      {!disabled && field !== 'price' && stored !== '' && isNumberText(stored) && (
        <small className={styles.quiet}>
          {asUsd
            ? say('asRatio', { ratio: Number(Number(stored).toPrecision(6)) })
            : say('asUsd', { usd: `$${shownUsd(field, prices, perUsd) || '–'}` })}
        </small>
      )}
    </div>
  )
}

/** Prices that come from long ratios are shown to six figures; what is not touched stays as it is stored. */
function shortened(text: string): string {
  return text === '' || !isNumberText(text) ? text : String(Number(Number(text).toPrecision(6)))
}

/** The completion ratio is a multiple of the price of input, so its dollars need both. */
function shownUsd(field: 'ratio' | 'completion', { ratio, completion }: ModelPrices, perUsd: number): string {
  if (field === 'ratio') return isNumberText(ratio) ? usdOf(ratio, perUsd) : ratio
  if (completion === '' || !isNumberText(completion)) return completion
  const input = usdOf(ratio, perUsd)
  return input === '' ? '' : tidy(Number(input) * Number(completion))
}

function storedOf(
  field: 'ratio' | 'completion',
  { text, prices, perUsd }: { text: string; prices: ModelPrices; perUsd: number },
): string {
  const trimmed = text.trim()
  if (field === 'ratio') return ratioOf(trimmed, perUsd)
  const input = Number(usdOf(prices.ratio, perUsd))
  if (trimmed === '' || !isNumberText(trimmed) || !(input > 0)) return trimmed
  return tidy(Number(trimmed) / input)
}
