import { Select, Skeleton, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import { lazy, type ReactNode, Suspense } from 'react'
import type { Field } from '../../contract/fields.ts'
import { useLocal, useText } from '../lib/i18n.ts'
import { JsonInput } from './json-input.tsx'
import { NumberField } from './number-field.tsx'
import { RatioMap } from './ratio-map.tsx'
import { TextMap } from './text-map.tsx'
import { texts } from './texts.ts'

// Few forms have one.
const PasswordField = lazy(async () => ({ default: (await import('./password-field.tsx')).PasswordField }))
const ChatList = lazy(async () => ({ default: (await import('./chat-list.tsx')).ChatList }))
const GroupLimits = lazy(async () => ({ default: (await import('./request-limits/group-limits.tsx')).GroupLimits }))
const GroupCounts = lazy(async () => ({ default: (await import('./request-limits/group-counts.tsx')).GroupCounts }))

interface FieldInputProps {
  readonly field: Field
  /** The value as it is exchanged: text for every widget; `true`/`false` for a switch, commas between tags, newlines between lines. */
  readonly value: string
  readonly onChange: (value: string) => void
  readonly error?: ReactNode
  readonly disabled?: boolean
  /** After the label, such as a mark for unsaved changes. */
  readonly mark?: ReactNode
}

/** Draws one declared field with its widget. */
export function FieldInput({ field, value, onChange, error, disabled, mark }: FieldInputProps) {
  const local = useLocal()
  const say = useText(texts)
  const label = local(field.label)
  const common = {
    label: mark ? (
      <>
        {label} {mark}
      </>
    ) : (
      label
    ),
    description: field.help && local(field.help),
    placeholder: field.placeholder && local(field.placeholder),
    withAsterisk: field.required,
    error,
    disabled,
  }
  const map = { label, description: common.description, error, disabled, value, onChange }
  const unit = field.unit && local(field.unit, { count: 2 })

  switch (field.widget) {
    case 'switch':
      return (
        <Switch
          label={common.label}
          description={common.description}
          error={error}
          disabled={disabled}
          checked={value === 'true'}
          onChange={(event) => onChange(String(event.currentTarget.checked))}
        />
      )
    case 'number':
      return <NumberField {...common} value={value} onChange={onChange} unit={field.unit} />
    case 'secret':
      return (
        <Suspense fallback={<Skeleton height={58} />}>
          <PasswordField
            {...common}
            value={value}
            onChange={(event) => onChange(event.currentTarget.value)}
            autoComplete="new-password"
          />
        </Suspense>
      )
    case 'lines':
    case 'textarea':
    case 'markdown':
      return (
        <Textarea
          {...common}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
          autosize
          minRows={3}
          maxRows={14}
          spellCheck={field.widget === 'markdown'}
        />
      )
    case 'json':
      return <JsonInput {...common} value={value} onChange={onChange} />
    case 'ratio-map':
      return <RatioMap {...map} />
    case 'text-map':
      return <TextMap {...map} choices={field.choices} />
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
    case 'select':
      return (
        <Select
          {...common}
          value={value}
          data={(field.choices ?? []).map((choice) => ({ value: choice.value, label: local(choice.label) }))}
          onChange={(next) => onChange(next ?? '')}
          allowDeselect={false}
        />
      )
    case 'tags':
      return (
        <TagsInput
          {...common}
          placeholder={common.placeholder ?? say('tagsHint')}
          value={value.split(',').filter((tag) => tag !== '')}
          onChange={(tags) => onChange(tags.join(','))}
          splitChars={[',', '，', ' ']}
          acceptValueOnBlur
        />
      )
    case 'url':
    case 'text':
      return (
        <TextInput
          {...common}
          type={field.widget === 'url' ? 'url' : 'text'}
          inputMode={field.widget === 'url' ? 'url' : undefined}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
          rightSection={unit}
          rightSectionWidth={unit ? `${unit.length + 2}ch` : undefined}
        />
      )
    default:
      return field.widget satisfies never
  }
}
