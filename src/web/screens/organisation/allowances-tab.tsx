import { Button } from '@mantine/core'
import { IconPencil, IconPlus, IconRestore, IconShieldCheck } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, useState } from 'react'
import { type Allowance, allowanceScopeLabels } from '../../../contract/entities/organisation.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { managesAll, type Payer } from '../../lib/payer.ts'
import { teamChoices, useMembers, useTeams } from '../../lib/places.ts'
import { read, useWrite } from '../../lib/query.ts'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import { DataTable } from '../../ui/list/data-table.tsx'
import { loadingOf, usePages } from '../../ui/list/list-rows.ts'
import type { Column } from '../../ui/list/listing.ts'
import { actionIcon } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import { allowanceTexts } from './allowance-texts.ts'

const AllowanceForm = lazy(async () => ({ default: (await import('./allowance-form.tsx')).AllowanceForm }))

/** What members may do, where that is restricted. */
export function AllowancesTab({ payer }: { payer: Payer }) {
  const say = useText(allowanceTexts)
  const teams = useTeams(payer.id)
  const found = useQuery(read('GET /api/organisation/:id/allowances', { params: { id: payer.id } }))
  const restricted = found.data?.filter(isRestricting)
  const pages = usePages(restricted)
  const nameOf = useNames(payer)
  const [editing, setEditing] = useState<Allowance | 'new'>()
  const decides = managesAll(payer) || teams.some(({ may_manage }) => may_manage)
  const add = decides && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setEditing('new')}>
      {say('add')}
    </Button>
  )
  return (
    <Panel title={say('title')} description={say('hint')} aside={restricted?.length === 0 ? undefined : add}>
      <DataTable
        label={say('title')}
        {...pages}
        {...loadingOf(found)}
        rowKey={({ scope, subject_id }) => `${scope} ${subject_id}`}
        columns={useColumns(nameOf)}
        {...(decides
          ? {
              rowActions: (row: Allowance) => (
                <Actions payer={payer} row={row} name={nameOf(row)} onEdit={() => setEditing(row)} />
              ),
            }
          : {})}
        empty={{ title: say('none'), hint: say('noneHint'), icon: <IconShieldCheck />, action: add || undefined }}
      />
      <SideDrawer
        subject={editing}
        title={(shown) => (shown === 'new' ? say('add') : say('editOf', { name: nameOf(shown) }))}
        onClose={() => setEditing(undefined)}
      >
        {(shown) => (
          <AllowanceForm
            payer={payer}
            saved={shown === 'new' ? undefined : shown}
            known={found.data ?? []}
            onDone={() => setEditing(undefined)}
          />
        )}
      </SideDrawer>
    </Panel>
  )
}

/** What is as for everybody restricts nothing. */
function isRestricting({ models, groups, tokens_max, days_max, is_strict }: Allowance): boolean {
  return models.length > 0 || groups.length > 0 || tokens_max >= 0 || days_max > 0 || is_strict
}

function useNames(payer: Payer): (row: Pick<Allowance, 'scope' | 'subject_id'>) => string {
  const teams = new Map(teamChoices(useTeams(payer.id)).map(({ value, label }) => [Number(value), label]))
  const members = new Map(useMembers(payer.id).map(({ id, username }) => [id, username]))
  return ({ scope, subject_id: id }) => {
    if (scope === 'organisation') return payer.name
    return (scope === 'team' ? teams : members).get(id) ?? `#${id}`
  }
}

function useColumns(nameOf: (row: Allowance) => string): Column<Allowance>[] {
  const say = useText(allowanceTexts)
  const local = useLocal()
  const any = <span className={shared.quiet}>{say('any')}</span>
  const list = (names: readonly string[]) => (names.length === 0 ? any : names.join(', '))
  return [
    {
      key: 'place',
      title: say('place'),
      heads: true,
      cell: (row) => (
        <span>
          <small className={shared.quiet}>{local(allowanceScopeLabels[row.scope])}</small> {nameOf(row)}
        </span>
      ),
    },
    { key: 'models', title: say('models'), cell: ({ models }) => list(models) },
    { key: 'groups', title: say('groups'), cell: ({ groups }) => list(groups) },
    { key: 'tokens', title: say('tokens'), align: 'right', cell: ({ tokens_max: max }) => (max < 0 ? any : max) },
    { key: 'days', title: say('days'), align: 'right', cell: ({ days_max: max }) => (max === 0 ? any : max) },
    { key: 'strict', title: say('strict'), cell: ({ is_strict: isStrict }) => say(isStrict ? 'yes' : 'no') },
  ]
}

interface ActionsProps {
  readonly payer: Payer
  readonly row: Allowance
  readonly name: string
  readonly onEdit: () => void
}

function Actions({ payer, row, name, onEdit }: ActionsProps) {
  const say = useText(allowanceTexts)
  const { scope, subject_id } = row
  const lift = useWrite('PUT /api/organisation/:id/allowances', {
    invalidates: ['GET /api/organisation/:id/allowances'],
    success: say('lifted'),
  })
  return (
    <RowActions
      name={name}
      actions={[
        { label: say('edit'), icon: <IconPencil {...actionIcon} />, primary: true, onClick: onEdit },
        {
          label: say('lift'),
          icon: <IconRestore {...actionIcon} />,
          danger: true,
          ask: { title: say('liftTitle'), object: name, body: say('liftBody') },
          onClick: () => lift.mutate({ params: { id: payer.id }, body: { scope, subject_id } }),
        },
      ]}
    />
  )
}
