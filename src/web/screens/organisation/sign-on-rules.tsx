import { Button } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconPencil, IconPlus, IconUsersGroup } from '@tabler/icons-react'
import { useState } from 'react'
import { type DirectoryRule, ruleFields, type SignOn } from '../../../contract/entities/sign-on.ts'
import { blankFaults } from '../../../contract/fields.ts'
import { organisationCallerLabels } from '../../../contract/organisation-roles.ts'
import { localOf, textOf, useLocal, useText } from '../../lib/i18n.ts'
import type { Payer } from '../../lib/payer.ts'
import { teamChoices, useTeams } from '../../lib/places.ts'
import { useWrite } from '../../lib/query.ts'
import { DrawerForm } from '../../ui/dialog/drawer-form.tsx'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { DataTable } from '../../ui/list/data-table.tsx'
import { usePages } from '../../ui/list/list-rows.ts'
import { actionIcon } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { deleteAction } from '../../ui/list/row-common-actions.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { signOnTexts } from './sign-on-texts.ts'
import { useRoleChoices } from './use-role-choices.ts'

interface PartProps {
  readonly payer: Payer
  readonly signOn: SignOn
}

/** A rule with its place in the table. */
interface PlacedRule extends DirectoryRule {
  readonly place: number
}

/** What groups of the directory give. */
export function SignOnRules({ payer, signOn: { rules } }: PartProps) {
  const say = useText(signOnTexts)
  const local = useLocal()
  const placed = rules.map((rule, place): PlacedRule => ({ ...rule, place }))
  const pages = usePages(placed)
  const teams = new Map(teamChoices(useTeams(payer.id)).map(({ value, label }) => [Number(value), label]))
  const [editing, setEditing] = useState<PlacedRule>()
  const add = (
    <Button
      variant="default"
      leftSection={<IconPlus size={16} />}
      onClick={() => setEditing({ directory_group: '', role: '', team_id: 0, is_manager: false, place: rules.length })}
    >
      {say('ruleAdd')}
    </Button>
  )
  const teamOf = ({ team_id, is_manager }: DirectoryRule) => {
    const team = teams.get(team_id)
    return team !== undefined && is_manager ? say('manages', { team }) : team
  }
  return (
    <Panel title={say('rules')} description={say('rulesHint')} aside={rules.length === 0 ? undefined : add}>
      <DataTable
        label={say('rules')}
        {...pages}
        rowKey={({ place }) => place}
        columns={[
          { key: 'group', title: say('group'), heads: true, cell: ({ directory_group: group }) => group },
          {
            key: 'role',
            title: say('role'),
            cell: ({ role }) => (role === '' ? null : local(organisationCallerLabels[role])),
          },
          { key: 'team', title: say('team'), cell: teamOf },
        ]}
        rowActions={(rule) => <Actions payer={payer} rule={rule} rules={rules} onEdit={() => setEditing(rule)} />}
        empty={{ title: say('ruleNone'), icon: <IconUsersGroup />, action: add }}
      />
      <SideDrawer
        subject={editing}
        title={({ place }) => say(place === rules.length ? 'ruleAdd' : 'ruleEdit')}
        onClose={() => setEditing(undefined)}
      >
        {(rule) => <RuleForm payer={payer} rule={rule} rules={rules} onDone={() => setEditing(undefined)} />}
      </SideDrawer>
    </Panel>
  )
}

interface RuleProps {
  readonly payer: Payer
  readonly rule: PlacedRule
  readonly rules: readonly DirectoryRule[]
}

function useSave(onSuccess?: () => void) {
  const say = useText(signOnTexts)
  return useWrite('PUT /api/organisation/:id/sign-on/rules', {
    invalidates: ['GET /api/organisation/:id/sign-on', 'GET /api/organisation/:id/members', 'GET /api/organisation/:id/teams'],
    success: say('saved'),
    ...(onSuccess ? { onSuccess } : {}),
  })
}

function RuleForm({ payer, rule, rules, onDone }: RuleProps & { readonly onDone: () => void }) {
  const say = useText(signOnTexts)
  const roles = useRoleChoices(payer)
  const teams = teamChoices(useTeams(payer.id))
  const form = useForm({
    initialValues: { ...rule, team_id: String(rule.team_id) },
    validate: (values) => ({
      ...(values.role === '' && values.team_id === '0' ? { role: textOf(signOnTexts, 'givesNothing') } : {}),
      ...blankFaults(ruleFields, values, localOf),
    }),
  })
  const save = useSave(onDone)
  const submit = form.onSubmit(({ place, team_id, directory_group, role, is_manager }) => {
    const changed = { directory_group: directory_group.trim(), role, team_id: Number(team_id), is_manager }
    save.mutate({ params: { id: payer.id }, body: { rules: [...rules.slice(0, place), changed, ...rules.slice(place + 1)] } })
  })
  return (
    <DrawerForm busy={save.isPending} dirty={form.isDirty()} onSubmit={submit}>
      <FieldsForm
        fields={ruleFields}
        form={form}
        inputs={{
          directory_group: { isFirst: true },
          role: { data: [{ value: '', label: say('nothing') }, ...roles] },
          team_id: { data: [{ value: '0', label: say('nothing') }, ...teams] },
        }}
      />
    </DrawerForm>
  )
}

function Actions({ payer, rule, rules, onEdit }: RuleProps & { readonly onEdit: () => void }) {
  const say = useText(signOnTexts)
  const save = useSave()
  const removal = { delete: say('ruleDelete'), deleteTitle: say('ruleDeleteTitle'), deleteBody: say('ruleDeleteBody') }
  return (
    <RowActions
      name={rule.directory_group}
      actions={[
        { label: say('ruleEdit'), icon: <IconPencil {...actionIcon} />, primary: true, onClick: onEdit },
        deleteAction((text) => removal[text], {
          object: rule.directory_group,
          onClick: () => save.mutate({ params: { id: payer.id }, body: { rules: rules.filter((_, at) => at !== rule.place) } }),
        }),
      ]}
    />
  )
}
