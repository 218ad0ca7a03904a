import { Button } from '@mantine/core'
import { IconSpeakerphone } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { lazy, useState } from 'react'
import { type AdminIncident, incidentKindLabels, incidentKinds, isEnded } from '../../../contract/entities/incident.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import type { Filter } from '../../ui/list/list-filters.tsx'
import { ListFrame } from '../../ui/list/list-frame.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { useListState } from '../../ui/list/list-state.ts'
import { Actions } from './actions.tsx'
import { useColumns } from './columns.tsx'
import { texts } from './texts.ts'

const IncidentForm = lazy(async () => ({ default: (await import('./form.tsx')).IncidentForm }))
const UpdateForm = lazy(async () => ({ default: (await import('./update-form.tsx')).UpdateForm }))

/** The subject of the drawer: a new incident, one that is edited, or one that gets an update. */
interface Drawer {
  readonly incident: AdminIncident | undefined
  readonly isUpdate?: true
}

/** Incidents and planned maintenance, as admins write them for the status page. */
export function Screen() {
  const say = useText(texts)
  const state = useListState({ keyword: '', kind: '', state: '' }, { sort: '-id' })
  const list = useList('GET /api/incident/', state)
  const [drawer, setDrawer] = useState<Drawer>()
  const close = () => setDrawer(undefined)

  return (
    <>
      <ListFrame
        name="incidents"
        title={say('title')}
        description={say('description')}
        state={state}
        {...list}
        columns={useColumns()}
        filters={useFilters()}
        isMuted={(incident) => isEnded(incident.state)}
        rowActions={(incident, forget) => (
          <Actions
            incident={incident}
            onEdit={() => setDrawer({ incident })}
            onUpdate={() => setDrawer({ incident, isUpdate: true })}
            onDeleted={forget}
          />
        )}
        actions={
          <Button component={Link} to="/status" variant="default">
            {say('statusPage')}
          </Button>
        }
        add={{ label: say('add'), first: say('first'), onClick: () => setDrawer({ incident: undefined }) }}
        empty={{ title: say('emptyTitle'), hint: say('emptyHint'), icon: <IconSpeakerphone /> }}
      />
      <SideDrawer
        subject={drawer}
        title={({ incident, isUpdate }) =>
          incident ? say(isUpdate ? 'updateTitle' : 'editTitle', { title: incident.title }) : say('addTitle')
        }
        onClose={close}
      >
        {({ incident, isUpdate }) =>
          incident && isUpdate ? (
            <UpdateForm incident={incident} onDone={close} />
          ) : (
            <IncidentForm incident={incident} onDone={close} />
          )
        }
      </SideDrawer>
    </>
  )
}

function useFilters(): readonly Filter[] {
  const say = useText(texts)
  const local = useLocal()
  return [
    { kind: 'search', name: 'keyword', label: say('search'), width: 280 },
    {
      kind: 'select',
      name: 'kind',
      label: say('kind'),
      choices: incidentKinds.map((value) => ({ value, label: local(incidentKindLabels[value]) })),
    },
    {
      kind: 'select',
      name: 'state',
      label: say('stateFilter'),
      choices: (['open', 'ended'] as const).map((value) => ({ value, label: say(value) })),
    },
  ]
}
