import { MultiSelect, Select, TagsInput, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import {
  type AdminIncident,
  type IncidentImpact,
  type IncidentKind,
  type IncidentState,
  incidentImpacts,
  incidentKinds,
  incidentLimits,
  incidentStates,
} from '../../../contract/entities/incident.ts'
import { useText } from '../../lib/i18n.ts'
import { read, useWrite } from '../../lib/query.ts'
import { isTime, nowSeconds } from '../../lib/times.ts'
import { DateTimeInput } from '../../ui/date-time-input.tsx'
import { DrawerForm } from '../../ui/drawer-form.tsx'
import { incidentLines } from './lines.ts'
import { texts } from './texts.ts'
import { UpdateFields } from './update-fields.tsx'

interface Values {
  kind: IncidentKind
  title: string
  impact: IncidentImpact
  groups: string[]
  models: string[]
  starts_at: number | undefined
  ends_at: number | undefined
  state: IncidentState
  message: string
}

type Form = Pick<ReturnType<typeof useForm<Values>>, 'values' | 'errors' | 'getInputProps' | 'setFieldValue'>

const hourSeconds = 3600

/** The form of a new incident with its first update, or of the details of an existing one. */
export function IncidentForm({ incident, onDone }: { incident: AdminIncident | undefined; onDone: () => void }) {
  const say = useText(texts)
  const form = useForm<Values>({ initialValues: incident ? valuesOf(incident) : fresh(), validate: useFaults(incident) })
  const { save, busy } = useSave(incident, onDone)
  const { kind } = form.values

  function choose(next: IncidentKind): void {
    const now = nowSeconds()
    const [state] = incidentStates[next]
    form.setValues({ kind: next, state, ...(next === 'maintenance' ? { starts_at: now, ends_at: now + hourSeconds } : {}) })
  }

  return (
    <DrawerForm
      busy={busy}
      dirty={form.isDirty()}
      onSubmit={form.onSubmit(save)}
      {...(incident ? {} : { submitLabel: say('publish') })}
    >
      {!incident && (
        <Select
          label={say('kind')}
          allowDeselect={false}
          data={incidentKinds.map((value) => ({ value, label: say(value) }))}
          value={kind}
          // The choices are those of the list.
          onChange={(value) => choose(value as IncidentKind)}
        />
      )}
      <TextInput
        label={say('name')}
        placeholder={say('titlePlaceholder')}
        withAsterisk
        maxLength={incidentLimits.titleMax}
        {...form.getInputProps('title')}
      />
      {kind === 'incident' && (
        <Select
          label={say('impact')}
          description={say('impactHelp')}
          allowDeselect={false}
          data={incidentImpacts.map((value) => ({ value, label: say(impactTexts[value]) }))}
          {...form.getInputProps('impact')}
        />
      )}
      <Scope form={form} />
      <Times form={form} />
      {!incident && <UpdateFields kind={kind} form={form} />}
    </DrawerForm>
  )
}

const impactTexts = { none: 'impactNone', degraded: 'impactDegraded', outage: 'impactOutage' } as const

function Scope({ form }: { form: Form }) {
  const say = useText(texts)
  const groups = useQuery(read('GET /api/group/'))
  const models = useQuery(read('GET /api/channel/models_enabled'))
  return (
    <>
      <MultiSelect
        label={say('groups')}
        description={say('scopeHelp')}
        data={[...new Set([...(groups.data ?? []), ...form.values.groups])]}
        searchable
        hidePickedOptions
        maxValues={incidentLimits.groupsMax}
        {...form.getInputProps('groups')}
      />
      <TagsInput
        label={say('models')}
        data={models.data ?? []}
        maxDropdownHeight={240}
        maxTags={incidentLimits.modelsMax}
        {...form.getInputProps('models')}
      />
    </>
  )
}

function Times({ form }: { form: Form }) {
  const say = useText(texts)
  const { kind, starts_at, ends_at } = form.values
  return (
    <>
      <DateTimeInput
        label={say('starts')}
        value={starts_at}
        onChange={(at) => form.setFieldValue('starts_at', at)}
        error={form.errors.starts_at}
        data-path="starts_at"
      />
      {kind === 'maintenance' && (
        <DateTimeInput
          label={say('plannedEnd')}
          value={ends_at}
          onChange={(at) => form.setFieldValue('ends_at', at)}
          error={form.errors.ends_at}
          data-path="ends_at"
        />
      )}
    </>
  )
}

function useFaults(incident: AdminIncident | undefined) {
  const say = useText(texts)
  return {
    title: (title: string) => title.trim() === '' && say('titleNeeded'),
    starts_at: (at: number | undefined) => !isTime(at) && say('startNeeded'),
    ends_at: (at: number | undefined, { kind, starts_at }: Values) =>
      kind === 'maintenance' && !(isTime(at) && at > (starts_at ?? 0)) && say('endNeeded'),
    message: (message: string) => !incident && message.trim() === '' && say('messageNeeded'),
  }
}

function useSave(incident: AdminIncident | undefined, onDone: () => void) {
  const say = useText(texts)
  const open = useWrite('POST /api/incident/', { invalidates: incidentLines, success: say('published'), onSuccess: onDone })
  const change = useWrite('PUT /api/incident/:id', { invalidates: incidentLines, success: say('saved'), onSuccess: onDone })

  function save({ kind, state, message, starts_at = 0, ends_at = 0, ...rest }: Values): void {
    const body = { ...rest, starts_at, ends_at: kind === 'maintenance' ? ends_at : 0 }
    if (incident) change.mutate({ params: { id: incident.id }, body })
    else open.mutate({ body: { ...body, kind, state, message } })
  }
  return { save, busy: open.isPending || change.isPending }
}

function fresh(): Values {
  return {
    kind: 'incident',
    title: '',
    impact: 'degraded',
    groups: [],
    models: [],
    starts_at: nowSeconds(),
    ends_at: undefined,
    state: 'investigating',
    message: '',
  }
}

function valuesOf({ kind, title, impact, groups, models, starts_at, ends_at, state }: AdminIncident): Values {
  return { kind, title, impact, groups, models, starts_at, ends_at: ends_at || undefined, state, message: '' }
}
