import { Button, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useRef } from 'react'
import { flushSync } from 'react-dom'
import type { Channel, ChannelType } from '../../../../contract/entities/channel.ts'
import { channelRoutingFields } from '../../../../contract/entities/channel-fields.ts'
import { ApiError } from '../../../lib/call.ts'
import { useText } from '../../../lib/i18n.ts'
import { read, useWrite } from '../../../lib/query.ts'
import { toast } from '../../../lib/toast.ts'
import { DrawerForm, DrawerFormWaiting } from '../../../ui/dialog/drawer-form.tsx'
import { FieldsForm } from '../../../ui/form/fields-form.tsx'
import { ErrorView } from '../../../ui/page/error-view.tsx'
import shared from '../../../ui/shared.module.css'
import { useChannelTypes } from '../use-channel-types.ts'
import type { Saved } from './after-save.ts'
import styles from './form.module.css'
import { bodyOf, type ChannelValues, changesOf, fieldOfRefusal, newChannel, valuesOf } from './form-values.ts'
import { ModelFields } from './model-fields.tsx'
import { SettingPanels } from './setting-panels.tsx'
import { texts } from './texts.ts'
import { UpstreamFields } from './upstream-fields.tsx'
import { useListedPresets } from './use-listed-presets.ts'

interface ChannelFormProps {
  readonly id: number | undefined
  readonly onKeys: (channel: Channel) => void
  /** With the ids of the channels that were added. */
  readonly onDone: (added: readonly number[]) => void
}

/** The form of a new channel, or of the saved channel with this id, which is loaded again each time. */
export function ChannelForm({ id, ...rest }: ChannelFormProps) {
  const types = useChannelTypes()
  const saved = useQuery({
    ...read('GET /api/channel/:id', { params: { id: id ?? 0 } }),
    enabled: id !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })

  if (types.data && (id === undefined || saved.data)) return <Fields types={types.data} channel={saved.data} {...rest} />
  const failed = [types, saved].filter(({ error }) => error)
  if (failed.length === 0) return <DrawerFormWaiting />
  return <ErrorView error={failed[0]?.error} onRetry={() => void Promise.all(failed.map((query) => query.refetch()))} />
}

interface FieldsProps extends Omit<ChannelFormProps, 'id'> {
  readonly types: readonly ChannelType[]
  readonly channel: Channel | undefined
}

function Fields({ types, channel, onKeys, onDone }: FieldsProps) {
  const say = useText(texts)
  const fields = useRef<HTMLDivElement>(null)
  // Set while the panel of a field with a fault is being loaded: the field is focused afterwards.
  const isFaultAwaited = useRef(false)
  const form = useForm({
    initialValues: channel ? valuesOf(channel) : newChannel(types.find(({ offered }) => offered)),
    validate: async (values) => {
      const { faultsOf } = await loadChecks()
      return faultsOf(settled(values), typeOf(values.type), channel === undefined)
    },
  })
  const typeOf = (wanted: number) => types.find(({ id }) => id === wanted)
  // The channel may have got more keys while the form was open.
  const settled = (values: ChannelValues) =>
    channel && channel.keys_total > 1 ? { ...values, lines: 'together' as const } : values
  const listed = useListedPresets()
  const { save, busy } = useSave({ channel, onDone, onFault: (field, reason) => show({ [field]: reason }) })

  function show(faults: Record<string, ReactNode>): void {
    // Collapsed parts with a fault are opened first; only then their fields exist and can be focused.
    flushSync(() => form.setErrors(faults))
    if (faults.more_models) toast.error(say('notAgain'))
    goToFault()
  }

  function goToFault(): void {
    const field = fields.current?.querySelector<HTMLElement>(':is(input, textarea):is([aria-invalid="true"], [data-error])')
    field?.focus()
    isFaultAwaited.current = !field
  }

  function goToAwaitedFault(): void {
    if (isFaultAwaited.current) goToFault()
  }

  const type = typeOf(form.values.type)

  /** Models that the type proposed are reduced to those that the upstream lists, before they are saved. */
  async function saveAndTest(values: ChannelValues): Promise<void> {
    const models = channel ? undefined : await listed.reduce(values, typeOf(values.type))
    if (models) form.setFieldValue('models', [...models])
    save(form.getInitialValues(), settled(models ? { ...values, models: [...models] } : values), true)
  }

  const common = { form, type, channel }
  return (
    <DrawerForm
      busy={busy || form.submitting || listed.isPending}
      dirty={form.isDirty()}
      onSubmit={form.onSubmit((values) => save(form.getInitialValues(), settled(values)), show)}
      second={
        type?.testable !== false && (
          <Button
            variant="default"
            disabled={busy || form.submitting}
            loading={listed.isPending}
            onClick={() => form.onSubmit((values) => void saveAndTest(values), show)()}
          >
            {say('saveAndTest')}
          </Button>
        )
      }
    >
      <Stack gap="lg" ref={fields}>
        <Section title={say('sectionUpstream')}>
          <UpstreamFields {...common} types={types} onKeys={onKeys} />
        </Section>
        <Section title={say('sectionModels')}>
          <ModelFields {...common} />
        </Section>
        <Section title={say('sectionRouting')}>
          <FieldsForm fields={channelRoutingFields} form={form} />
        </Section>
        <Section title={say('sectionAdvanced')}>
          <SettingPanels form={form} onDrawn={goToAwaitedFault} />
        </Section>
      </Stack>
    </DrawerForm>
  )
}

/** If the checks cannot be loaded, the form is not sent, and a message is shown. */
async function loadChecks() {
  try {
    return await import('./form-faults.ts')
  } catch (cause) {
    toast.failure(cause)
    throw cause
  }
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack component="section" gap="md" className={styles.section} aria-label={title}>
      <h3 className={shared.heading}>{title}</h3>
      {children}
    </Stack>
  )
}

interface SaveInput {
  readonly channel: Channel | undefined
  readonly onDone: (added: readonly number[]) => void
  /** The server refused the value of one field. */
  readonly onFault: (field: keyof ChannelValues, reason: string) => void
}

function useSave({ channel, onDone, onFault }: SaveInput) {
  const say = useText(texts)
  const client = useQueryClient()
  const navigate = useNavigate()
  // The form is closed by the time of the test.
  const testedName = useRef<string>(undefined)
  const common = {
    invalidates: ['GET /api/channel/search', 'GET /api/system/first_run', 'GET /api/pricing/models'],
    onFailure: (cause: unknown) => {
      const field = cause instanceof ApiError ? fieldOfRefusal[cause.code] : undefined
      if (field && cause instanceof ApiError) onFault(field, cause.message)
      return field !== undefined
    },
  } as const
  const add = useWrite('POST /api/channel/', {
    ...common,
    onSuccess: (ids, { body }) => done(body.models, { added: ids, saved: ids }),
    success: (ids) => (ids.length > 1 ? say('createdMany', { count: ids.length }) : say('createdOne')),
  })
  const edit = useWrite('PUT /api/channel/', {
    ...common,
    onSuccess: (_data, { body }) => done(body.models, { added: [], saved: [body.id] }),
    success: say('updated'),
  })

  function done(models: string | null | undefined, { added, saved }: Record<'added' | 'saved', readonly number[]>): void {
    onDone(added)
    void follow({ ids: saved, testedName: testedName.current, models: models ? models.split(',') : [] })
  }

  async function follow(after: Saved): Promise<void> {
    try {
      const { afterSave } = await import('./after-save.ts')
      await afterSave(after, { client, navigate })
    } catch (cause) {
      toast.failure(cause)
    }
  }

  function save(before: ChannelValues, after: ChannelValues, isTested = false): void {
    const changes = changesOf(before, after)
    testedName.current = isTested ? after.name : undefined
    if (!channel) add.mutate({ body: bodyOf(after) })
    else if (Object.keys(changes).length > 0) edit.mutate({ body: { id: channel.id, ...changes } })
    else if (isTested) done(undefined, { added: [], saved: [channel.id] })
    else toast.warn(say('notChanged'))
  }

  return { save, busy: add.isPending || edit.isPending }
}
