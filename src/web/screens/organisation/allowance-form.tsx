import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import {
  type Allowance,
  type AllowanceScope,
  allowanceFields,
  allowanceScopeLabels,
} from '../../../contract/entities/organisation.ts'
import { savedFields } from '../../../contract/fields.ts'
import { textOf, useLocal, useText } from '../../lib/i18n.ts'
import { managesAll, type Payer } from '../../lib/payer.ts'
import { teamChoices, useMembers, useTeams } from '../../lib/places.ts'
import { read, useWrite } from '../../lib/query.ts'
import { DrawerForm } from '../../ui/dialog/drawer-form.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { allowanceTexts } from './allowance-texts.ts'

interface Values {
  scope: AllowanceScope
  /** Ids; '' while nothing is chosen. */
  team: string
  member: string
  models: string[]
  groups: string[]
  /** '' for any number. */
  tokens_max: number | string
  days_max: number | string
  is_strict: boolean
}

interface AllowanceFormProps {
  readonly payer: Payer
  /** Undefined for a place that has none yet. */
  readonly saved: Allowance | undefined
  readonly known: readonly Allowance[]
  readonly onDone: () => void
}

export function AllowanceForm({ payer, saved, known, onDone }: AllowanceFormProps) {
  const say = useText(allowanceTexts)
  const choices = useChoices(payer)
  const form = useForm<Values>({ initialValues: valuesOf(saved, managesAll(payer)), validate: faultsOf })
  const save = useWrite('PUT /api/organisation/:id/allowances', {
    invalidates: ['GET /api/organisation/:id/allowances'],
    success: say('saved'),
    onSuccess: onDone,
  })

  /** A place that is restricted already is shown as it is. */
  function choose(name: 'team' | 'member', value: string): void {
    const there = known.find(({ scope, subject_id }) => scope === name && String(subject_id) === value)
    form.setValues({ ...(there ? limitsOf(there) : {}), [name]: value })
  }

  const submit = form.onSubmit(({ scope, team, member, models, groups, tokens_max, days_max, is_strict }) => {
    const chosen = { organisation: payer.id, team: Number(team), member: Number(member) }[scope]
    const place = saved ? { scope: saved.scope, subject_id: saved.subject_id } : { scope, subject_id: chosen }
    const limits = { tokens_max: tokens_max === '' ? -1 : Number(tokens_max), days_max: Number(days_max) || 0 }
    save.mutate({ params: { id: payer.id }, body: { ...place, models, groups, is_strict, ...limits } })
  })

  return (
    <DrawerForm busy={save.isPending} dirty={form.isDirty()} onSubmit={submit}>
      <FieldsForm
        fields={saved ? savedFields(allowanceFields) : allowanceFields}
        form={form}
        inputs={{
          scope: { data: choices.scopes },
          team: { data: choices.teams, onChange: (value) => choose('team', String(value)) },
          member: { data: choices.members, onChange: (value) => choose('member', String(value)) },
          models: { data: [...new Set([...choices.models, ...form.values.models])], clearable: true },
          groups: { data: [...new Set([...choices.groups, ...form.values.groups])], clearable: true },
        }}
      />
    </DrawerForm>
  )
}

function useChoices(payer: Payer) {
  const local = useLocal()
  const teams = useTeams(payer.id)
  const manageable = new Set(teams.filter(({ may_manage }) => may_manage).map(({ id }) => String(id)))
  const members = useMembers(payer.id)
  const models = useQuery(read('GET /api/user/models'))
  const groups = useQuery(read('GET /api/user/self/groups'))
  const scopes: readonly AllowanceScope[] = managesAll(payer) ? ['organisation', 'team', 'member'] : ['team', 'member']
  return {
    scopes: scopes.map((value) => ({ value, label: local(allowanceScopeLabels[value]) })),
    teams: teamChoices(teams).filter(({ value }) => manageable.has(value)),
    members: members.map(({ id, username }) => ({ value: String(id), label: username })),
    models: models.data ?? [],
    groups: Object.keys(groups.data ?? {}),
  }
}

function valuesOf(saved: Allowance | undefined, managesAllOf: boolean): Values {
  const scope: AllowanceScope = managesAllOf ? 'organisation' : 'team'
  const blank = { scope, team: '', member: '', models: [], groups: [], tokens_max: '', days_max: '', is_strict: false }
  return saved ? { ...blank, scope: saved.scope, ...limitsOf(saved) } : blank
}

function limitsOf({ models, groups, tokens_max, days_max, is_strict }: Allowance) {
  const number = (value: number, none: number) => (value === none ? '' : value)
  return { models, groups, is_strict, tokens_max: number(tokens_max, -1), days_max: number(days_max, 0) }
}

function faultsOf({ scope, team, member, tokens_max, days_max }: Values): Record<string, string> {
  const isNumber = (typed: number | string) => typed === '' || (Number.isInteger(Number(typed)) && Number(typed) >= 0)
  return {
    ...(scope === 'team' && team === '' ? { team: textOf(allowanceTexts, 'choose') } : {}),
    ...(scope === 'member' && member === '' ? { member: textOf(allowanceTexts, 'choose') } : {}),
    ...(isNumber(tokens_max) ? {} : { tokens_max: textOf(allowanceTexts, 'numberInvalid') }),
    ...(isNumber(days_max) ? {} : { days_max: textOf(allowanceTexts, 'numberInvalid') }),
  }
}
