import { IconEraser, IconTicket } from '@tabler/icons-react'
import { lazy, useState } from 'react'
import { redemptionFilters, redemptionStatus, redemptionStatusLabels } from '../../../contract/entities/redemption.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import type { Filter } from '../../ui/list/list-filters.tsx'
import { ListFrame } from '../../ui/list/list-frame.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { useListState } from '../../ui/list/list-state.ts'
import { perform } from '../../ui/list/row-action.ts'
import { HeadButton } from '../../ui/page/head-button.tsx'
import { Actions } from './actions.tsx'
import { useBulkActions } from './bulk-actions.ts'
import { isExpired, useColumns } from './columns.tsx'
import { redemptionLists } from './redemption-lines.ts'
import { texts } from './texts.ts'

const RedemptionForm = lazy(async () => ({ default: (await import('./form.tsx')).RedemptionForm }))

export function Screen() {
  const say = useText(texts)
  const state = useListState({ keyword: '', status: 0 }, { sort: '-id' })
  const list = useList('GET /api/redemption/search', state)
  /** The subject of the form in the drawer: new codes or the one with this id. */
  const [drawer, setDrawer] = useState<{ readonly id: number | undefined }>()
  const close = () => setDrawer(undefined)

  return (
    <>
      <ListFrame
        name="redemptions"
        title={say('title')}
        description={say('description')}
        state={state}
        {...list}
        columns={useColumns()}
        filters={useFilters()}
        isMuted={(code) => code.status !== redemptionStatus.unused || isExpired(code)}
        rowActions={(code, forget) => <Actions code={code} onEdit={() => setDrawer({ id: code.id })} onDeleted={forget} />}
        bulkActions={useBulkActions()}
        file={{
          line: 'GET /api/redemption/export.csv',
          name: 'redemption-codes.csv',
          query: state.asked,
          hint: say('exportHint'),
        }}
        add={{ label: say('add'), first: say('emptyAction'), onClick: () => setDrawer({ id: undefined }) }}
        empty={{ title: say('emptyTitle'), hint: say('emptyHint'), icon: <IconTicket /> }}
        actions={<CleanUp />}
      />
      <SideDrawer subject={drawer} title={({ id }) => say(id === undefined ? 'addTitle' : 'editTitle')} onClose={close}>
        {({ id }) => <RedemptionForm id={id} onDone={close} />}
      </SideDrawer>
    </>
  )
}

function useFilters(): readonly Filter[] {
  const say = useText(texts)
  const local = useLocal()
  const states = Object.entries(redemptionStatusLabels).map(([value, { label }]) => ({ value, label: local(label) }))
  return [
    { kind: 'search', name: 'keyword', label: say('search'), width: 280 },
    {
      kind: 'select',
      name: 'status',
      label: say('status'),
      choices: [...states, { value: String(redemptionFilters.expired), label: say('expiredUnused') }],
    },
  ]
}

function CleanUp() {
  const say = useText(texts)
  const cleanUp = useWrite('DELETE /api/redemption/invalid', {
    invalidates: redemptionLists,
    success: (count) => say('cleanedUp', { count }),
  })
  const act = {
    label: say('cleanUp'),
    danger: true,
    ask: { title: say('cleanUpTitle'), body: say('cleanUpBody') },
    onClick: () => cleanUp.mutate({}),
  }
  return <HeadButton label={act.label} icon={IconEraser} loading={cleanUp.isPending} onClick={() => void perform(act)} />
}
