import { IconFiles } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { useServerAddress } from '../../lib/server-address.ts'
import { useMay } from '../../lib/session.ts'
import type { Filter } from '../../ui/list/list-filters.tsx'
import { ListFrame } from '../../ui/list/list-frame.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { useListState } from '../../ui/list/list-state.ts'
import { FileActions, fileLines } from './file-actions.tsx'
import { useFileColumns } from './file-columns.tsx'
import { useFileSize } from './file-size.ts'
import { RefreshButton } from './refresh.tsx'
import { texts } from './texts.ts'

/** Files at vendors; for admins those of everybody. */
export function Screen() {
  const say = useText(texts)
  const isAdmin = useMay('admin')
  const state = useListState({ id: '', name: '', purpose: '', channel_id: '', username: '' }, {})
  const { id, name, purpose, channel_id, username } = state.asked
  const own = { file_id: id, filename: name, purpose }
  const filter = isAdmin ? { ...own, channel_id, username } : own
  const list = useList(isAdmin ? 'GET /api/file/' : 'GET /api/file/self', { query: { ...filter, ...state.paging } })
  const address = `${useServerAddress()}/v1/files`

  return (
    <ListFrame
      dense
      name="files"
      title={say('files')}
      description={<Usage isAdmin={isAdmin} username={username} />}
      state={state}
      {...list}
      columns={useFileColumns(isAdmin)}
      filters={useInputs(isAdmin)}
      file={{ line: isAdmin ? 'GET /api/file/export.csv' : 'GET /api/file/self/export.csv', name: 'files.csv', query: filter }}
      rowActions={(row) => <FileActions row={row} />}
      empty={{ icon: <IconFiles />, title: say('filesEmpty'), hint: say('filesEmptyHint', { address }) }}
      actions={<RefreshButton lines={fileLines} />}
    />
  )
}

/** What the files take of the quota: the own ones, those of the user whom an admin looks at, or those of everybody. */
function Usage({ isAdmin, username }: { isAdmin: boolean; username: string }) {
  const say = useText(texts)
  const sizeOf = useFileSize()
  const ofAll = useQuery({ ...read('GET /api/file/usage', { query: { username } }), enabled: isAdmin })
  const ofOwner = useQuery({ ...read('GET /api/file/self/usage'), enabled: !isAdmin })
  const usage = (isAdmin ? ofAll : ofOwner).data
  if (!usage) return null
  return say(isAdmin && username === '' ? 'filesOfAll' : 'filesUsed', {
    count: formatCount(usage.count),
    most: formatCount(usage.count_max),
    size: sizeOf(usage.bytes),
    room: sizeOf(usage.bytes_max),
  })
}

function useInputs(isAdmin: boolean): readonly Filter[] {
  const say = useText(texts)
  return [
    { kind: 'text', name: 'name', label: say('fileName'), width: 150 },
    { kind: 'text', name: 'id', label: say('fileId'), width: 170 },
    { kind: 'text', name: 'purpose', label: say('purpose'), width: 120 },
    ...(isAdmin
      ? [
          { kind: 'text' as const, name: 'username', label: say('username'), width: 110 },
          { kind: 'text' as const, name: 'channel_id', label: say('channelId'), width: 106 },
        ]
      : []),
  ]
}
