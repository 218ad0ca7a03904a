import { MultiSelect, NumberInput, Select, Skeleton, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import { lazy, type ReactNode, Suspense } from 'react'
import type { Field } from '../../../contract/fields.ts'
import type { TextParams } from '../../../contract/text.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import { Choices, type Offer } from './choices.tsx'
import { DateTimeInput } from './date-time-input.tsx'
import { NumberField } from './number-field.tsx'
import { PasswordField } from './password-field.tsx'
import { DollarInput, QuotaInput } from './quota-input.tsx'
import { RatioMap } from './ratio-map.tsx'
import { TextMap } from './text-map.tsx'
import { WholeNumber } from './whole-number.tsx'

// Few forms have one.
const ChatList = lazy(async () => ({ default: (await import('./chat-list.tsx')).ChatList }))
const HeaderLists = lazy(async () => ({ default: (await import('./header-lists.tsx')).HeaderLists }))
const GroupLimits = lazy(async () => ({ default: (await import('./request-limits/group-limits.tsx')).GroupLimits }))
const GroupCounts = lazy(async () => ({ default: (await import('./request-limits/group-counts.tsx')).GroupCounts }))
const VideoPrices = lazy(async () => ({ default: (await import('./video-prices/video-prices.tsx')).VideoPricesEditor }))

/** Choices that are seen without scrolling; among more, typing finds one. */
const choicesSeen = 8

const textInputs = {
  url: { type: 'url', inputMode: 'url' },
  identifier: { autoCapitalize: 'none', spellCheck: false },
  text: {},
} as const

/** A boolean of a switch, names of tags and choices, unix seconds of a time, a text or number of all others. */
type FieldValue = boolean | string | number | readonly string[] | undefined

export interface FieldInputProps {
  readonly field: Field
  readonly value?: unknown
  readonly onChange: (value: FieldValue) => void
  readonly error?: ReactNode
  readonly disabled?: boolean
  /** After the label, such as a mark for unsaved changes. */
  readonly mark?: ReactNode
  /** Fill the placeholders of the declared texts. */
  readonly params?: TextParams
  /** Instead of the declared one. */
  readonly placeholder?: string | undefined
  /** Choices that depend on the site. */
  readonly data?: readonly (string | { readonly value: string; readonly label: string })[]
  /** Frequent values, below the input. */
  readonly offers?: readonly Offer[]
  /** The form begins in this field. */
  readonly isFirst?: boolean
  /** All choices can be taken back at once. */
  readonly clearable?: boolean
}

/** Draws one declared field with its widget, and the frequent values below it. */
export function FieldInput({ offers, ...props }: FieldInputProps) {
  if (!offers) return <Widget {...props} />
  return (
    <div>
      <Widget {...props} />
      <Choices offers={offers} disabled={props.disabled} />
    </div>
  )
}

function Widget({ field, value, onChange, mark, params, data, isFirst = false, ...input }: Omit<FieldInputProps, 'offers'>) {
  const local = useLocal()
  const say = useText(texts)
  const label = local(field.label)
  const named = {
    label: mark ? (
      <>
        {label} {mark}
      </>
    ) : (
      label
    ),
    description: field.help && local(field.help, params),
    ...(isFirst ? { autoFocus: true, 'data-autofocus': true } : {}),
  }
  const common = {
    ...named,
    placeholder: field.placeholder && local(field.placeholder, params),
    withAsterisk: field.required !== undefined,
    ...input,
  }
  const text = typeof value === 'string' ? value : ''
  const number = typeof value === 'number' ? value : text
  const list: string[] = Array.isArray(value) ? value : []
  const offered = data ? [...data] : (field.choices ?? []).map((choice) => ({ value: choice.value, label: local(choice.label) }))
  const map = { label, description: named.description, error: input.error, disabled: input.disabled, value: text, onChange }
  const isSigned = field.min === undefined || field.min < 0
  const [minRows, maxRows] = field.rows ?? [3, 14]

  switch (field.widget) {
    case 'switch':
      return <Switch {...named} {...input} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />
    case 'number':
      if (field.unit?.of === 'quota') {
        return <QuotaInput {...common} value={number} onChange={(quota) => onChange(String(quota))} allowNegative={isSigned} />
      }
      if (field.unit?.of === 'usd') return <DollarInput {...common} value={number} onChange={onChange} allowNegative={isSigned} />
      return (
        <NumberField
          {...common}
          value={text}
          onChange={onChange}
          unit={field.unit}
          min={field.min}
          max={field.max}
          allowNegative={isSigned}
        />
      )
    case 'amount':
      return (
        <NumberInput
          {...common}
          value={number}
          onChange={onChange}
          allowDecimal={false}
          allowNegative={false}
          thousandSeparator=","
        />
      )
    case 'whole':
      return <WholeNumber {...common} value={number} onChange={onChange} min={field.min ?? 0} />
    case 'secret':
      return (
        <PasswordField
          {...common}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
          autoComplete="new-password"
        />
      )
    case 'lines':
    case 'textarea':
    case 'markdown':
      return (
        <Textarea
          {...common}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
          maxLength={field.max}
          autosize
          minRows={minRows}
          maxRows={maxRows}
          spellCheck={field.widget !== 'lines'}
        />
      )
    case 'ratio-map':
      return <RatioMap {...map} />
    case 'text-map':
      return <TextMap {...map} choices={field.choices} />
    case 'header-lists':
      return (
        <Suspense fallback={<Skeleton height={120} />}>
          <HeaderLists {...map} />
        </Suspense>
      )
    case 'chats':
      return (
        <Suspense fallback={<Skeleton height={300} />}>
          <ChatList {...map} />
        </Suspense>
      )
    case 'group-limits':
    case 'group-counts': {
      const Rows = field.widget === 'group-limits' ? GroupLimits : GroupCounts
      return (
        <Suspense fallback={<Skeleton height={120} />}>
          <Rows {...map} />
        </Suspense>
      )
    }
    case 'video-prices':
      return (
        <Suspense fallback={<Skeleton height={120} />}>
          <VideoPrices {...map} />
        </Suspense>
      )
    case 'select':
      return (
        <Select
          {...common}
          value={text}
          data={offered}
          onChange={(next) => onChange(next ?? '')}
          allowDeselect={false}
          searchable={offered.length > choicesSeen}
        />
      )
    case 'choices':
      return (
        <MultiSelect
          {...common}
          placeholder={list.length === 0 ? common.placeholder : undefined}
          value={list}
          data={offered}
          onChange={onChange}
          maxDropdownHeight={240}
          maxValues={field.max}
          searchable
          // Chosen names are not offered again; those with a label stay, with a mark.
          hidePickedOptions={offered.every((choice) => typeof choice === 'string')}
        />
      )
    case 'tags':
      return (
        <TagsInput
          {...common}
          placeholder={common.placeholder ?? (data ? undefined : say('tagsHint'))}
          value={list}
          data={data?.filter((choice) => typeof choice === 'string')}
          maxDropdownHeight={240}
          onChange={onChange}
          maxTags={field.max}
          splitChars={[',', '，', ' ']}
        />
      )
    case 'time':
      return (
        <DateTimeInput
          {...named}
          {...input}
          label={label}
          value={typeof value === 'number' ? value : undefined}
          onChange={onChange}
        />
      )
    case 'url':
    case 'identifier':
    case 'text':
      return (
        <TextInput
          {...common}
          {...textInputs[field.widget]}
          value={text}
          onChange={(event) => onChange(event.currentTarget.value)}
          maxLength={field.max}
          autoComplete="off"
        />
      )
    default:
      return field.widget satisfies never
  }
}
