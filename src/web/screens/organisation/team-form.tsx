import { useForm } from '@mantine/form'
import { type Team, teamFields } from '../../../contract/entities/organisation.ts'
import { blankFaults } from '../../../contract/fields.ts'
import { localOf, useText } from '../../lib/i18n.ts'
import { managesAll, type Payer } from '../../lib/payer.ts'
import { teamChoices, useTeams } from '../../lib/places.ts'
import { useWrite } from '../../lib/query.ts'
import { DrawerForm } from '../../ui/dialog/drawer-form.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { texts } from './texts.ts'

interface TeamFormProps {
  readonly payer: Payer
  /** A saved team, or a new one below this one; 0 is the top. */
  readonly subject: { readonly team: Team } | { readonly below: number }
  readonly onDone: () => void
}

export function TeamForm({ payer, subject, onDone }: TeamFormProps) {
  const say = useText(texts)
  const team = 'team' in subject ? subject.team : undefined
  const teams = useTeams(payer.id)
  const parent = 'team' in subject ? subject.team.parent_id : subject.below
  const form = useForm({
    initialValues: { name: team?.name ?? '', parent_id: String(parent) },
    validate: (values) => blankFaults(teamFields, values, localOf),
  })
  const written = { invalidates: ['GET /api/organisation/:id/teams'], success: say('saved'), onSuccess: onDone } as const
  const create = useWrite('POST /api/organisation/:id/teams', written)
  const change = useWrite('PUT /api/organisation/:id/teams', written)
  const inside = team ? withBelow(teams, team.id) : new Set<number>()
  const offered = teamChoices(teams).filter(({ value }) => {
    const id = Number(value)
    const mayManage = teams.find((each) => each.id === id)?.may_manage === true
    return !inside.has(id) && (mayManage || id === parent)
  })
  const submit = form.onSubmit(({ name, parent_id }) => {
    const body = { name: name.trim(), parent_id: Number(parent_id) }
    if (team) change.mutate({ params: { id: payer.id }, body: { ...body, team_id: team.id } })
    else create.mutate({ params: { id: payer.id }, body })
  })
  const atTop = managesAll(payer) || parent === 0 ? [{ value: '0', label: say('top') }] : []
  return (
    <DrawerForm busy={create.isPending || change.isPending} dirty={form.isDirty()} onSubmit={submit}>
      <FieldsForm
        fields={teamFields}
        form={form}
        inputs={{ name: { isFirst: true }, parent_id: { data: [...atTop, ...offered] } }}
      />
    </DrawerForm>
  )
}

/** A team and all below it; each comes after the one that it is a part of. */
function withBelow(teams: readonly Team[], id: number): Set<number> {
  const inside = new Set([id])
  for (const team of teams) if (inside.has(team.parent_id)) inside.add(team.id)
  return inside
}
