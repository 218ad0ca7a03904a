import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import {
  newOrganisationFields,
  type Organisation,
  organisationFields,
  organisationQuotaFields,
} from '../../../contract/entities/organisation.ts'
import { blankFaults } from '../../../contract/fields.ts'
import { ApiError } from '../../lib/call.ts'
import { localOf, textOf, useText } from '../../lib/i18n.ts'
import { read, useWrite } from '../../lib/query.ts'
import { noteOrganisations, useMay } from '../../lib/session.ts'
import { DrawerForm } from '../../ui/dialog/drawer-form.tsx'
import { useDollarOffers } from '../../ui/form/dollar-offers.ts'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { texts } from './texts.ts'

/** The lists that a change of an organisation makes stale. */
const stale = ['GET /api/organisation/', 'GET /api/organisation/:id'] as const
const quotaOffers = [10, 50, 100, 500]

/** The error codes that belong to the name. */
function isAboutName(cause: unknown): cause is ApiError {
  return cause instanceof ApiError && ['organisation_name_taken', 'organisation_name_characters'].includes(cause.code)
}

export function FoundForm({ onDone }: { onDone: () => void }) {
  const say = useText(texts)
  const isRoot = useMay('root')
  const groups = useQuery(read('GET /api/group/'))
  const form = useForm({
    initialValues: { name: '', group: 'default', quota: '' },
    validate: (values) => ({
      ...blankFaults(newOrganisationFields, values, localOf),
      ...(Number.isSafeInteger(Number(values.quota)) ? {} : { quota: textOf(texts, 'quotaInvalid') }),
    }),
  })
  const found = useWrite('POST /api/organisation/', {
    invalidates: stale,
    success: ({ name }) => say('founded', { name }),
    onSuccess: () => {
      noteOrganisations('own')
      onDone()
    },
    onFailure: (cause) => {
      if (!isAboutName(cause)) return false
      form.setFieldError('name', cause.message)
      return true
    },
  })
  const offers = useDollarOffers()(quotaOffers, (quota) => form.setFieldValue('quota', String(quota)))
  const submit = form.onSubmit(({ name, group, quota }) =>
    found.mutate({ body: { name: name.trim(), group, quota: Number(quota) || 0 } }),
  )
  return (
    <DrawerForm busy={found.isPending} dirty={form.isDirty()} onSubmit={submit}>
      <FieldsForm
        fields={newOrganisationFields}
        form={form}
        inputs={{ name: { isFirst: true }, group: { data: groups.data ?? ['default'] }, quota: { offers } }}
        draw={isRoot ? {} : { quota: null }}
      />
    </DrawerForm>
  )
}

export function EditForm({ organisation, onDone }: { organisation: Organisation; onDone: () => void }) {
  const say = useText(texts)
  const groups = useQuery(read('GET /api/group/'))
  const form = useForm({
    initialValues: { name: organisation.name, group: organisation.group },
    validate: (values) => blankFaults(organisationFields, values, localOf),
  })
  const save = useWrite('PUT /api/organisation/:id', {
    invalidates: stale,
    success: say('saved'),
    onSuccess: onDone,
    onFailure: (cause) => {
      if (!isAboutName(cause)) return false
      form.setFieldError('name', cause.message)
      return true
    },
  })
  const submit = form.onSubmit(({ name, group }) =>
    save.mutate({ params: { id: organisation.id }, body: { name: name.trim(), group } }),
  )
  return (
    <DrawerForm busy={save.isPending} dirty={form.isDirty()} onSubmit={submit}>
      <FieldsForm fields={organisationFields} form={form} inputs={{ group: { data: groups.data ?? [organisation.group] } }} />
    </DrawerForm>
  )
}

export function FundForm({ organisation, onDone }: { organisation: Organisation; onDone: () => void }) {
  const say = useText(texts)
  const form = useForm({
    initialValues: { change: '', reason: '' },
    validate: ({ change }) => {
      const isWhole = Number.isSafeInteger(Number(change)) && Number(change) !== 0
      return isWhole ? {} : { change: textOf(texts, 'changeInvalid') }
    },
  })
  const save = useWrite('POST /api/organisation/:id/quota', { invalidates: stale, success: say('saved'), onSuccess: onDone })
  const offers = useDollarOffers()(quotaOffers, (quota) => form.setFieldValue('change', String(quota)))
  const submit = form.onSubmit(({ change, reason }) =>
    save.mutate({ params: { id: organisation.id }, body: { change: Number(change), reason: reason.trim() } }),
  )
  return (
    <DrawerForm busy={save.isPending} dirty={form.isDirty()} onSubmit={submit}>
      <FieldsForm fields={organisationQuotaFields} form={form} inputs={{ change: { offers, isFirst: true } }} />
    </DrawerForm>
  )
}
