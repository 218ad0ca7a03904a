import { IconKey } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { tokenStatus, tokenStatusLabels } from '../../../contract/entities/token.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { usePayer } from '../../lib/payer.ts'
import { read } from '../../lib/query.ts'
import { useServerAddress } from '../../lib/server-address.ts'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import type { Filter } from '../../ui/list/list-filters.tsx'
import { ListFrame } from '../../ui/list/list-frame.tsx'
import { CopyText } from '../../ui/view/copy-text.tsx'
import { Actions } from './actions.tsx'
import { useBulkActions } from './bulk-actions.ts'
import { useColumns } from './columns.tsx'
import { OwnUseNotice } from './own-use-notice.tsx'
import { texts } from './texts.ts'
import { useTokenList } from './use-token-list.ts'

const OwnRecordingNotice = lazy(async () => ({ default: (await import('./own-recording-notice.tsx')).OwnRecordingNotice }))
const TokenForm = lazy(async () => ({ default: (await import('./form.tsx')).TokenForm }))

export function Screen() {
  const say = useText(texts)
  const payer = usePayer()
  const { list, state, search } = useTokenList()
  /** The subject of the form in the drawer: a new token or the one with this id. */
  const [drawer, setDrawer] = useState<{ readonly id: number | undefined }>()
  const close = () => setDrawer(undefined)
  const address = `${useServerAddress()}/v1`

  return (
    <>
      <ListFrame
        name="tokens"
        title={say('title')}
        description={
          <>
            {say('description')}
            <CopyText text={address}>{address}</CopyText>
          </>
        }
        state={state}
        {...list}
        columns={useColumns()}
        filters={useFilters()}
        isMuted={({ status }) => status !== tokenStatus.enabled}
        rowActions={(token, forget) => <Actions token={token} onEdit={() => setDrawer({ id: token.id })} onDeleted={forget} />}
        bulkActions={useBulkActions()}
        file={{ line: 'GET /api/token/export.csv', name: 'tokens.csv', query: search, hasSecret: search.token !== '' }}
        add={{ label: say('add'), first: say('emptyAction'), onClick: () => setDrawer({ id: undefined }) }}
        empty={{ title: say('emptyTitle'), hint: say('emptyHint'), icon: <IconKey /> }}
      >
        {payer === null && (
          <>
            <OwnUseNotice />
            <Suspense>
              <OwnRecordingNotice />
            </Suspense>
          </>
        )}
      </ListFrame>
      <SideDrawer subject={drawer} title={({ id }) => say(id === undefined ? 'addTitle' : 'editTitle')} onClose={close}>
        {({ id }) => <TokenForm id={id} onDone={close} />}
      </SideDrawer>
    </>
  )
}

function useFilters(): readonly Filter[] {
  const say = useText(texts)
  const local = useLocal()
  const groups = useQuery(read('GET /api/user/self/groups'))
  return [
    { kind: 'search', name: 'keyword', label: say('search') },
    { kind: 'text', name: 'token', label: say('key'), width: 180 },
    {
      kind: 'select',
      name: 'status',
      label: say('status'),
      choices: Object.entries(tokenStatusLabels).map(([value, { label }]) => ({ value, label: local(label) })),
    },
    {
      kind: 'select',
      name: 'group',
      label: say('group'),
      choices: [...Object.keys(groups.data ?? {}), 'auto'].map((group) => ({ value: group, label: group })),
    },
  ]
}
