import { TextInput, type TextInputProps, Tooltip, UnstyledButton } from '@mantine/core'
import { IconSwitchHorizontal } from '@tabler/icons-react'
import { useState } from 'react'
import { tidy } from '../../../contract/quota.ts'
import { formatCount, useDollarsOf } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { type QuotaUnit, readQuota, writeQuota } from '../../lib/read-quota.ts'
import { useStatus } from '../../lib/status.ts'
import { storedText } from '../../lib/stored.ts'
import { texts } from '../texts.ts'
import { beside } from './number-field.tsx'
import styles from './quota-input.module.css'

interface QuotaInputProps extends Omit<TextInputProps, 'value' | 'onChange'> {
  /** In units, also as text; '' when it is blank, NaN while the typed text is no amount. */
  readonly value?: number | string
  readonly onChange: (value: number | '') => void
  /** An amount below zero takes away. */
  readonly allowNegative?: boolean
}

/** The unit in which people type amounts, of this browser; '' follows the site's display of quota. */
const chosenUnit = storedText('quota_unit')

/**
 * An amount of quota, in every form and filter. It is typed in dollars or in units, with a button that switches; an amount with its
 * unit is read as written, whichever is chosen. The same amount in the other unit stands beside it.
 */
export function QuotaInput({ value = '', onChange, allowNegative = false, error, disabled, ...props }: QuotaInputProps) {
  const say = useText(texts)
  const dollarsOf = useDollarsOf()
  const { quota_per_unit: perUsd, display_in_currency: inCurrency } = useStatus()
  const chosen = chosenUnit.use()
  const unit: QuotaUnit = chosen === 'usd' || chosen === 'units' ? chosen : inCurrency ? 'usd' : 'units'
  // Kept while it is being typed, such as a number that ends with its point.
  const [typed, setTyped] = useState<string>()

  const quota = value === '' ? undefined : Number(value)
  const isAmount = Number.isSafeInteger(quota)
  const amountOf = (text: string) => {
    const amount = readQuota(text, { unit, perUsd })
    return amount && (allowNegative || amount.quota >= 0) ? amount : undefined
  }
  const amount = typed === undefined ? undefined : amountOf(typed)
  const isTyped = typed !== undefined && (isAmount ? amount?.quota === quota : amount === undefined)
  const shown = isTyped ? typed : isAmount ? writeQuota(Number(quota), { unit, perUsd }) : ''
  const meant = (isTyped && amount?.unit) || unit

  function change(text: string): void {
    setTyped(text)
    onChange(text.trim() === '' ? '' : (amountOf(text)?.quota ?? Number.NaN))
  }
  const other = unit === 'usd' ? 'units' : 'usd'

  return (
    <TextInput
      {...props}
      {...beside(
        isAmount && !disabled
          ? `= ${meant === 'usd' ? say('inUnits', { count: formatCount(Number(quota)) }) : dollarsOf(Number(quota))}`
          : undefined,
      )}
      wrapperProps={{ 'data-amount': true }}
      inputMode={allowNegative ? 'text' : 'decimal'}
      autoComplete="off"
      disabled={disabled}
      error={value !== '' && !isAmount ? say('amountUnclear') : error}
      leftSection={
        <Tooltip label={say(other === 'usd' ? 'typeInDollars' : 'typeInUnits')}>
          <UnstyledButton
            className={styles.unit}
            aria-label={say(other === 'usd' ? 'typeInDollars' : 'typeInUnits')}
            disabled={disabled}
            onClick={() => {
              chosenUnit.write(other)
              setTyped(undefined)
            }}
          >
            {unit === 'usd' ? '$' : say('units')}
            <IconSwitchHorizontal size={12} stroke={1.6} />
          </UnstyledButton>
        </Tooltip>
      }
      leftSectionWidth={unit === 'usd' ? '3rem' : '4.5rem'}
      value={shown}
      onChange={(event) => change(event.currentTarget.value)}
      onBlur={(event) => {
        if (isAmount) setTyped(undefined)
        props.onBlur?.(event)
      }}
    />
  )
}

/** An amount that is stored in dollars, as text. */
export function DollarInput({
  value = '',
  onChange,
  ...props
}: Omit<QuotaInputProps, 'onChange'> & { readonly onChange: (usd: string) => void }) {
  const { quota_per_unit: perUsd } = useStatus()
  return (
    <QuotaInput
      {...props}
      value={value === '' ? '' : Math.round(Number(value) * perUsd)}
      onChange={(quota) => onChange(quota === '' ? '' : String(tidy(quota / perUsd)))}
    />
  )
}
