import { NumberInput, Switch, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { Channel, ChannelType } from '../../../contract/entities/channel.ts'
import { channelPriorityMin } from '../../../contract/entities/channel-status.ts'
import { ApiError } from '../../lib/call.ts'
import { useText } from '../../lib/i18n.ts'
import { read, useWrite } from '../../lib/query.ts'
import { toast } from '../../lib/toast.ts'
import { DrawerForm, DrawerFormWaiting } from '../../ui/drawer-form.tsx'
import { ErrorView } from '../../ui/error-view.tsx'
import { JsonInput } from '../../ui/json-input.tsx'
import styles from './channels.module.css'
import { faultsOf, fieldOfRefusal } from './form-faults.ts'
import { bodyOf, type ChannelValues, changesOf, newChannel, valuesOf } from './form-values.ts'
import { ModelFields } from './model-fields.tsx'
import { SettingField } from './setting-field.tsx'
import { texts } from './texts.ts'
import { UpstreamFields } from './upstream-fields.tsx'
import { useChannelTypes } from './use-channel-types.ts'

/** The form of a new channel, or of the saved one with this id, which is loaded anew each time. */
export function ChannelForm({ id, onDone }: { id: number | undefined; onDone: () => void }) {
  const types = useChannelTypes()
  const saved = useQuery({
    ...read('GET /api/channel/:id', { params: { id: id ?? 0 } }),
    enabled: id !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })

  if (types.data && (id === undefined || saved.data)) return <Fields types={types.data} channel={saved.data} onDone={onDone} />
  const failed = [types, saved].filter(({ error }) => error)
  if (failed.length === 0) return <DrawerFormWaiting />
  return <ErrorView error={failed[0]?.error} onRetry={() => void Promise.all(failed.map((query) => query.refetch()))} />
}

interface FieldsProps {
  readonly types: readonly ChannelType[]
  readonly channel: Channel | undefined
  readonly onDone: () => void
}

function Fields({ types, channel, onDone }: FieldsProps) {
  const say = useText(texts)
  const form = useForm({
    initialValues: channel ? valuesOf(channel) : newChannel(types.find(({ offered }) => offered)),
    validate: (values) => faultsOf(values, typeOf(values.type), channel === undefined),
  })
  const typeOf = (wanted: number) => types.find(({ id }) => id === wanted)
  const { save, busy } = useSave({ channel, onDone, onFault: (field, reason) => show({ [field]: reason }) })

  function show(faults: Record<string, ReactNode>): void {
    form.setErrors(faults)
    const [first] = Object.keys(faults)
    // A select keeps its true field hidden; where there is none to go to, the message is enough.
    if (first) form.getInputNode(first)?.focus()
  }

  const common = { form, type: typeOf(form.values.type), channel }
  return (
    <DrawerForm
      busy={busy}
      dirty={form.isDirty()}
      onSubmit={form.onSubmit((values) => save(form.getInitialValues(), values), show)}
    >
      <section className={styles.section} aria-label={say('sectionUpstream')}>
        <UpstreamFields {...common} types={types} />
      </section>
      <section className={styles.section} aria-label={say('sectionModels')}>
        <ModelFields {...common} />
      </section>
      <section className={styles.section} aria-label={say('sectionRouting')}>
        <TextInput label={say('tag')} description={say('tagHelp')} maxLength={100} {...form.getInputProps('tag')} />
        <div className={styles.pair}>
          <NumberInput
            label={say('priorityField')}
            description={say('priorityHelp')}
            allowDecimal={false}
            min={channelPriorityMin}
            {...form.getInputProps('priority')}
          />
          <NumberInput
            label={say('weightField')}
            description={say('weightHelp')}
            allowDecimal={false}
            min={0}
            {...form.getInputProps('weight')}
          />
        </div>
        <Switch
          label={say('autoBan')}
          description={say('autoBanHelp')}
          {...form.getInputProps('auto_ban', { type: 'checkbox' })}
        />
      </section>
      <section className={styles.section} aria-label={say('sectionAdvanced')}>
        <NumberInput
          label={say('maxInputTokens')}
          description={say('maxInputTokensHelp')}
          allowDecimal={false}
          min={0}
          thousandSeparator=","
          {...form.getInputProps('max_input_tokens')}
        />
        <SettingField value={form.values.setting} {...form.getInputProps('setting')} />
        <JsonInput
          label={say('statusMapping')}
          description={say('statusMappingHelp')}
          placeholder={'{"400": "500"}'}
          minRows={2}
          value={form.values.status_code_mapping}
          {...form.getInputProps('status_code_mapping')}
        />
      </section>
    </DrawerForm>
  )
}

interface SaveInput {
  readonly channel: Channel | undefined
  readonly onDone: () => void
  /** The server refused what is in one field. */
  readonly onFault: (field: keyof ChannelValues, reason: string) => void
}

function useSave({ channel, onDone, onFault }: SaveInput) {
  const say = useText(texts)
  const common = {
    invalidates: ['GET /api/channel/search'],
    onSuccess: onDone,
    onFailure: (cause: unknown) => {
      const field = cause instanceof ApiError ? fieldOfRefusal[cause.code] : undefined
      if (field && cause instanceof ApiError) onFault(field, cause.message)
      return field !== undefined
    },
  } as const
  const add = useWrite('POST /api/channel/', {
    ...common,
    success: (ids) => (ids.length > 1 ? say('createdMany', { count: ids.length }) : say('createdOne')),
  })
  const edit = useWrite('PUT /api/channel/', { ...common, success: say('updated') })

  function save(before: ChannelValues, after: ChannelValues): void {
    const changes = changesOf(before, after)
    if (!channel) add.mutate({ body: bodyOf(after) })
    else if (Object.keys(changes).length === 0) toast.warn(say('notChanged'))
    else edit.mutate({ body: { id: channel.id, ...changes } })
  }

  return { save, busy: add.isPending || edit.isPending }
}
