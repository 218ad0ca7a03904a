import { Button } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconAt, IconCircleCheck, IconCircleOff, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { domainField, domainLabels, type SignOn } from '../../../contract/entities/sign-on.ts'
import { blankFaults } from '../../../contract/fields.ts'
import { isAdmin } from '../../../contract/roles.ts'
import { localOf, useText } from '../../lib/i18n.ts'
import type { Payer } from '../../lib/payer.ts'
import { useWrite } from '../../lib/query.ts'
import { useSession } from '../../lib/session.ts'
import { DrawerForm } from '../../ui/dialog/drawer-form.tsx'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { DataTable } from '../../ui/list/data-table.tsx'
import { actionIcon } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { deleteAction } from '../../ui/list/row-common-actions.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { StatusTag } from '../../ui/view/status-tag.tsx'
import { signOnTexts } from './sign-on-texts.ts'

interface PartProps {
  readonly payer: Payer
  readonly signOn: SignOn
}

const invalidates = ['GET /api/organisation/:id/sign-on'] as const

/** The mail domains of an organisation, which an admin of the site confirms. */
export function SignOnDomains({ payer, signOn: { domains } }: PartProps) {
  const say = useText(signOnTexts)
  const [adding, setAdding] = useState<readonly string[]>()
  const names = domains.map(({ domain }) => domain)
  const add = (
    <Button variant="default" leftSection={<IconPlus size={16} />} onClick={() => setAdding(names)}>
      {say('domainAdd')}
    </Button>
  )
  return (
    <Panel title={say('domains')} description={say('domainsHint')} aside={domains.length === 0 ? undefined : add}>
      <DataTable
        label={say('domains')}
        rows={domains}
        rowKey={({ domain }) => domain}
        columns={[
          { key: 'domain', title: say('domain'), heads: true, cell: ({ domain }) => domain },
          {
            key: 'state',
            title: say('state'),
            cell: ({ is_confirmed: isConfirmed }) => <StatusTag state={domainLabels[isConfirmed ? 'confirmed' : 'open']} />,
          },
        ]}
        rowActions={(row) => <Actions payer={payer} row={row} others={names.filter((name) => name !== row.domain)} />}
        empty={{ title: say('domainNone'), icon: <IconAt />, action: add }}
      />
      <SideDrawer subject={adding} title={() => say('domainAdd')} onClose={() => setAdding(undefined)}>
        {(known) => <DomainForm payer={payer} known={known} onDone={() => setAdding(undefined)} />}
      </SideDrawer>
    </Panel>
  )
}

function DomainForm({ payer, known, onDone }: { payer: Payer; known: readonly string[]; onDone: () => void }) {
  const say = useText(signOnTexts)
  const form = useForm({
    initialValues: { domain: '' },
    validate: (values) => blankFaults(domainField, values, localOf),
  })
  const save = useWrite('PUT /api/organisation/:id/sign-on/domains', {
    invalidates,
    success: say('saved'),
    onSuccess: onDone,
  })
  const submit = form.onSubmit(({ domain }) => {
    save.mutate({ params: { id: payer.id }, body: { domains: [...known, domain.trim()] } })
  })
  return (
    <DrawerForm busy={save.isPending} dirty={form.isDirty()} onSubmit={submit}>
      <FieldsForm fields={domainField} form={form} inputs={{ domain: { isFirst: true } }} />
    </DrawerForm>
  )
}

interface ActionsProps {
  readonly payer: Payer
  readonly row: SignOn['domains'][number]
  readonly others: readonly string[]
}

function Actions({ payer: { id }, row: { domain, is_confirmed: isConfirmed }, others }: ActionsProps) {
  const say = useText(signOnTexts)
  const user = useSession()
  const written = { invalidates, success: say('saved') } as const
  const set = useWrite('PUT /api/organisation/:id/sign-on/domains', written)
  const confirm = useWrite('POST /api/organisation/:id/sign-on/domains', written)
  const confirming = {
    label: say(isConfirmed ? 'takeBack' : 'confirm'),
    icon: isConfirmed ? <IconCircleOff {...actionIcon} /> : <IconCircleCheck {...actionIcon} />,
    primary: !isConfirmed,
    ...(isConfirmed ? {} : { ask: { title: say('confirmTitle'), object: domain, body: say('confirmBody') } }),
    onClick: () => confirm.mutate({ params: { id }, body: { domain, is_confirmed: !isConfirmed } }),
  }
  const removal = deleteAction(say, {
    object: domain,
    onClick: () => set.mutate({ params: { id }, body: { domains: [...others] } }),
  })
  return <RowActions name={domain} actions={[...(isAdmin(user?.role ?? 0) ? [confirming] : []), removal]} />
}
