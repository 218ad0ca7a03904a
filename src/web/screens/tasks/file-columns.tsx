import { fileDialects, fileStateLabels, type StoredFile } from '../../../contract/entities/stored-file.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { timeZoneOffset } from '../../lib/times.ts'
import type { Column } from '../../ui/list/listing.ts'
import shared from '../../ui/shared.module.css'
import { Tag } from '../../ui/view/tag.tsx'
import { ChannelCell, IdCell, TimeCell } from './cells.tsx'
import { useFileSize } from './file-size.ts'
import { texts } from './texts.ts'

/** Columns of the files; channel and user are for admins. */
export function useFileColumns(isAdmin: boolean): readonly Column<StoredFile>[] {
  const say = useText(texts)
  const sizeOf = useFileSize()
  const all: (Column<StoredFile> & { readonly admin?: true })[] = [
    {
      key: 'uploaded',
      title: say('uploaded', { zone: timeZoneOffset() }),
      cell: (row) => <TimeCell seconds={row.created_at} />,
    },
    {
      key: 'channel',
      title: say('channel'),
      admin: true,
      hideable: true,
      cell: ({ channel_id }) => (channel_id > 0 ? <ChannelCell id={channel_id} /> : null),
    },
    { key: 'user', title: say('user'), admin: true, hideable: true, cell: (row) => row.username },
    { key: 'name', title: say('fileName'), heads: true, fill: true, width: 140, cell: (row) => row.filename || row.file_id },
    { key: 'id', title: say('fileId'), cell: (row) => <IdCell text={row.file_id} /> },
    { key: 'dialect', title: say('platform'), hideable: true, cell: (row) => fileDialects[row.dialect] ?? row.dialect },
    { key: 'purpose', title: say('purpose'), hideable: true, cell: (row) => row.purpose },
    { key: 'status', title: say('fileState'), cell: (row) => <FileState state={row.state} /> },
    {
      key: 'size',
      title: say('size'),
      align: 'right',
      hideable: true,
      cell: (row) => <span className={shared.figure}>{sizeOf(row.bytes)}</span>,
    },
    {
      key: 'expires',
      title: say('expires'),
      hideable: true,
      cell: (row) => (row.expires_at > 0 ? <TimeCell seconds={row.expires_at} /> : null),
    },
  ]
  return all.filter(({ admin }) => isAdmin || !admin)
}

function FileState({ state }: { state: string }) {
  const local = useLocal()
  const label = fileStateLabels[state]
  return (
    <Tag dot color={label?.color ?? 'gray'}>
      {label ? local(label.label) : state}
    </Tag>
  )
}
