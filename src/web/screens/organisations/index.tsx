import { IconBuildings } from '@tabler/icons-react'
import { lazy, useState } from 'react'
import { type Organisation, organisationStatusLabels } from '../../../contract/entities/organisation.ts'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import { ListFrame } from '../../ui/list/list-frame.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { useListState } from '../../ui/list/list-state.ts'
import type { Column } from '../../ui/list/listing.ts'
import shared from '../../ui/shared.module.css'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import { StatusTag } from '../../ui/view/status-tag.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import { Actions, type OrganisationForm } from './actions.tsx'
import { texts } from './texts.ts'

const FoundForm = lazy(async () => ({ default: (await import('./forms.tsx')).FoundForm }))
const EditForm = lazy(async () => ({ default: (await import('./forms.tsx')).EditForm }))
const FundForm = lazy(async () => ({ default: (await import('./forms.tsx')).FundForm }))

/** All organisations of the site, for its admins. */
export function Screen() {
  const say = useText(texts)
  const state = useListState({ keyword: '' })
  const list = useList('GET /api/organisation/', { query: { ...state.query, all: true } })
  const [form, setForm] = useState<'found' | OrganisationForm>()
  const close = () => setForm(undefined)
  return (
    <>
      <ListFrame
        name="organisations"
        title={say('title')}
        description={say('description')}
        state={state}
        {...list}
        columns={useColumns()}
        filters={[{ kind: 'search', name: 'keyword', label: say('search') }]}
        isMuted={({ status }) => status !== 1}
        rowActions={(organisation) => <Actions organisation={organisation} onForm={setForm} />}
        add={{ label: say('add'), first: say('first'), onClick: () => setForm('found') }}
        empty={{ title: say('empty'), hint: say('emptyHint'), icon: <IconBuildings /> }}
      />
      <SideDrawer
        subject={form}
        title={(shown) =>
          shown === 'found' ? say('add') : say(shown.kind === 'edit' ? 'editOf' : 'fundOf', { name: shown.organisation.name })
        }
        onClose={close}
      >
        {(shown) => {
          if (shown === 'found') return <FoundForm onDone={close} />
          const { kind, organisation } = shown
          const Form = kind === 'edit' ? EditForm : FundForm
          return <Form organisation={organisation} onDone={close} />
        }}
      </SideDrawer>
    </>
  )
}

function useColumns(): Column<Organisation>[] {
  const say = useText(texts)
  return [
    {
      key: 'name',
      title: say('name'),
      heads: true,
      cell: ({ name, id }) => (
        <span className={shared.name}>
          {name} <small className={shared.quiet}>#{id}</small>
        </span>
      ),
    },
    {
      key: 'status',
      inCard: 'state',
      title: say('status'),
      cell: ({ status }) => <StatusTag state={organisationStatusLabels[status]} />,
    },
    {
      key: 'balance',
      inCard: 'figure',
      title: say('balance'),
      align: 'right',
      cell: ({ quota }) => <QuotaText units={quota} />,
    },
    {
      key: 'used',
      inCard: 'figure',
      title: say('used'),
      align: 'right',
      cell: ({ used_quota: used }) => <QuotaText units={used} />,
    },
    {
      key: 'requests',
      title: say('requests'),
      hideable: true,
      align: 'right',
      cell: ({ request_count: count }) => formatCount(count),
    },
    { key: 'members', title: say('members'), align: 'right', cell: ({ members }) => formatCount(members) },
    { key: 'group', title: say('group'), hideable: true, cell: ({ group }) => group },
    { key: 'created', title: say('created'), hideable: true, cell: ({ created_time: at }) => <TimeText seconds={at} /> },
  ]
}
