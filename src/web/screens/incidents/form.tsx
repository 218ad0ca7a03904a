import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import {
  type AdminIncident,
  type IncidentInput,
  type IncidentKind,
  incidentFields,
  incidentStates,
  incidentUpdateFields,
} from '../../../contract/entities/incident.ts'
import { blankFaults, savedFields } from '../../../contract/fields.ts'
import { localOf, useText } from '../../lib/i18n.ts'
import { read, useWrite } from '../../lib/query.ts'
import { isTime, nowSeconds } from '../../lib/times.ts'
import { DrawerForm } from '../../ui/dialog/drawer-form.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { incidentLines } from './lines.ts'
import { texts } from './texts.ts'

/** No time while none is typed. */
type Values = Omit<IncidentInput, 'starts_at' | 'ends_at'> & Record<'starts_at' | 'ends_at', number | undefined>

const hourSeconds = 3600

/** The form of a new incident with its first update, or of the details of an existing one. */
export function IncidentForm({ incident, onDone }: { incident: AdminIncident | undefined; onDone: () => void }) {
  const say = useText(texts)
  const groups = useQuery(read('GET /api/group/'))
  const models = useQuery(read('GET /api/channel/models_enabled'))
  const fieldsFor = (kind: IncidentKind) =>
    incident ? savedFields(incidentFields) : { ...incidentFields, ...incidentUpdateFields(kind) }
  const form = useForm<Values>({
    initialValues: incident ? valuesOf(incident) : fresh(),
    validate: (values) => ({
      ...blankFaults(fieldsFor(values.kind), values, localOf),
      ...(isEndRight(values) ? {} : { ends_at: say('endNeeded') }),
    }),
  })
  const { save, busy } = useSave(incident, onDone)
  const { values } = form

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
      <FieldsForm
        fields={fieldsFor(values.kind)}
        form={form}
        inputs={{
          // The choices are those of the list.
          kind: { onChange: (next) => choose(next as IncidentKind) },
          groups: { data: [...new Set([...(groups.data ?? []), ...values.groups])] },
          models: { data: models.data ?? [] },
        }}
      />
    </DrawerForm>
  )
}

/** Maintenance ends after its start. */
function isEndRight({ kind, starts_at = 0, ends_at }: Values): boolean {
  return kind !== 'maintenance' || (isTime(ends_at) && ends_at > starts_at)
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
