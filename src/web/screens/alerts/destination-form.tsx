import { MultiSelect, Select, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import {
  type Destination,
  type DestinationField,
  type DestinationKind,
  destinationFields,
  destinationKinds,
  type EventType,
  eventTypes,
} from '../../../contract/entities/destination.ts'
import { currentLanguage, languages, useLocal, useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { DrawerForm } from '../../ui/drawer-form.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { texts } from './texts.ts'

interface Values {
  kind: DestinationKind
  name: string
  language: 'zh' | 'en'
  events: EventType[]
  settings: Record<string, string>
}

interface Props {
  readonly destination: Destination | undefined
  /** The initial kind of a new destination. */
  readonly begins: DestinationKind
  readonly onDone: () => void
}

// The keys of these objects.
const kinds = Object.keys(destinationKinds) as DestinationKind[]
const types = Object.keys(eventTypes) as EventType[]

/** The form of a new or an existing destination; secrets that are left blank stay unchanged. */
export function DestinationForm({ destination, begins, onDone }: Props) {
  const say = useText(texts)
  const local = useLocal()
  const form = useForm<Values>({
    initialValues: destination ? valuesOf(destination) : newDestination(begins),
    validate: { name: (name) => name.trim() === '' && say('nameNeeded') },
  })
  const { save, busy } = useSave(destination, onDone)
  const { kind } = form.values
  return (
    <DrawerForm busy={busy} dirty={form.isDirty()} onSubmit={form.onSubmit(save)}>
      {!destination && (
        <Select
          label={say('kind')}
          allowDeselect={false}
          data={kinds.map((value) => ({ value, label: local(destinationKinds[value].label) }))}
          {...form.getInputProps('kind')}
        />
      )}
      <TextInput label={say('name')} withAsterisk maxLength={60} {...form.getInputProps('name')} />
      {destinationFields(kind).map((field) => (
        <SettingField
          key={`${kind}.${field.name}`}
          field={field}
          isKept={destination?.has.includes(field.name) === true}
          value={form.values.settings[field.name] ?? ''}
          onChange={(value) => form.setFieldValue(`settings.${field.name}`, value)}
        />
      ))}
      {kind === 'webhook' ? (
        <MultiSelect
          label={say('events')}
          description={say('eventsHelp')}
          searchable
          data={types.map((value) => ({ value, label: `${local(eventTypes[value])} · ${value}` }))}
          {...form.getInputProps('events')}
        />
      ) : (
        <Select
          label={say('language')}
          allowDeselect={false}
          data={languages.map(({ value, name }) => ({ value, label: name }))}
          {...form.getInputProps('language')}
        />
      )}
    </DrawerForm>
  )
}

interface SettingFieldProps {
  readonly field: DestinationField
  /** Whether a secret is stored already. */
  readonly isKept: boolean
  readonly value: string
  readonly onChange: (value: string) => void
}

function SettingField({ field: { label, help, secret, optional }, isKept, value, onChange }: SettingFieldProps) {
  const say = useText(texts)
  const local = useLocal()
  const common = {
    label: local(label),
    description: help && local(help),
    withAsterisk: !optional && !isKept,
    value,
    onChange: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
  }
  if (!secret) return <TextInput {...common} spellCheck={false} />
  return <PasswordField {...common} placeholder={isKept ? say('keepSecret') : ''} autoComplete="new-password" />
}

function useSave(destination: Destination | undefined, onDone: () => void) {
  const say = useText(texts)
  const done = { invalidates: ['GET /api/alert/destination/'], onSuccess: onDone } as const
  const create = useWrite('POST /api/alert/destination/', { ...done, success: ({ name }) => say('created', { name }) })
  const change = useWrite('PUT /api/alert/destination/:id', { ...done, success: ({ name }) => say('saved', { name }) })

  function save({ kind, settings: typed, ...rest }: Values): void {
    const names = destinationFields(kind).map(({ name }) => name)
    const settings = Object.fromEntries(names.map((name) => [name, typed[name] ?? '']))
    if (destination) change.mutate({ params: { id: destination.id }, body: { ...rest, settings } })
    else create.mutate({ body: { ...rest, kind, settings } })
  }
  return { save, busy: create.isPending || change.isPending }
}

function newDestination(kind: DestinationKind): Values {
  return { kind, name: '', language: currentLanguage(), events: [], settings: {} }
}

function valuesOf({ kind, name, language, events, settings }: Destination): Values {
  return { kind, name, language, events: types.filter((type) => events.includes(type)), settings: { ...settings } }
}
