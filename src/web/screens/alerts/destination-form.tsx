import { useForm } from '@mantine/form'
import {
  type Destination,
  type DestinationInput,
  type DestinationKind,
  destinationFields,
  destinationSettings,
  type EventType,
  eventTypes,
} from '../../../contract/entities/destination.ts'
import { blankFaults, savedFields } from '../../../contract/fields.ts'
import { currentLanguage, localOf, useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { DrawerForm } from '../../ui/dialog/drawer-form.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { texts } from './texts.ts'

interface Props {
  readonly destination: Destination | undefined
  /** The initial kind of a new destination. */
  readonly begins: DestinationKind
  readonly onDone: () => void
}

// The keys of that object.
const types = Object.keys(eventTypes) as EventType[]

/** The form of a new or an existing destination; secrets that are left blank stay unchanged. */
export function DestinationForm({ destination, begins, onDone }: Props) {
  const fields = destination ? savedFields(destinationFields) : destinationFields
  const form = useForm<DestinationInput>({
    initialValues: destination ? valuesOf(destination) : newDestination(begins),
    validate: (values) => blankFaults(fields, values, localOf),
  })
  const { save, busy } = useSave(destination, onDone)
  const { kind, settings } = form.values
  return (
    <DrawerForm busy={busy} dirty={form.isDirty()} onSubmit={form.onSubmit(save)}>
      <FieldsForm
        fields={fields}
        form={form}
        draw={{
          settings: (
            <FieldsForm
              key={kind}
              fields={destinationSettings(kind, destination?.has)}
              form={{ values: settings, getInputProps: (name) => form.getInputProps(`settings.${name}`) }}
            />
          ),
        }}
      />
    </DrawerForm>
  )
}

function useSave(destination: Destination | undefined, onDone: () => void) {
  const say = useText(texts)
  const done = { invalidates: ['GET /api/alert/destination/'], onSuccess: onDone } as const
  const create = useWrite('POST /api/alert/destination/', { ...done, success: ({ name }) => say('created', { name }) })
  const change = useWrite('PUT /api/alert/destination/:id', { ...done, success: ({ name }) => say('saved', { name }) })

  function save({ kind, settings: typed, ...rest }: DestinationInput): void {
    const settings = Object.fromEntries(Object.keys(destinationSettings(kind)).map((name) => [name, typed[name] ?? '']))
    if (destination) change.mutate({ params: { id: destination.id }, body: { ...rest, settings } })
    else create.mutate({ body: { ...rest, kind, settings } })
  }
  return { save, busy: create.isPending || change.isPending }
}

function newDestination(kind: DestinationKind): DestinationInput {
  return { kind, name: '', language: currentLanguage(), events: [], settings: {} }
}

function valuesOf({ kind, name, language, events, settings }: Destination): DestinationInput {
  return { kind, name, language, events: types.filter((type) => events.includes(type)), settings: { ...settings } }
}
