import { Box } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { isWorthCompacting, type Storage } from '../../../../contract/entities/system.ts'
import { units } from '../../../../contract/units.ts'
import { useLocal, useText } from '../../../lib/i18n.ts'
import { inLargerUnits } from '../../../lib/measures.ts'
import { read } from '../../../lib/query.ts'
import { DataTable } from '../../../ui/list/data-table.tsx'
import { loadingOf } from '../../../ui/list/list-rows.ts'
import type { Column } from '../../../ui/list/listing.ts'
import { Notice } from '../../../ui/page/notice.tsx'
import { Panel } from '../../../ui/page/panel.tsx'
import shared from '../../../ui/shared.module.css'
import styles from './runtime.module.css'
import { texts } from './texts.ts'

/** The disk space of the database, by table. */
export function StoragePanel() {
  const say = useText(texts)
  const sizeOf = useSize()
  const storage = useQuery(read('GET /api/system/storage'))
  return (
    <Panel
      title={say('storage')}
      description={say('storageHint')}
      aside={storage.data && say('storageTotal', { size: sizeOf(storage.data.bytes) })}
    >
      {storage.data && isWorthCompacting(storage.data) && (
        <Box mb="md">
          <Notice title={say('storageUnused', { size: sizeOf(storage.data.unused_bytes) })}>{say('storageCompact')}</Notice>
        </Box>
      )}
      <DataTable
        label={say('storage')}
        dense
        columns={useColumns()}
        {...loadingOf(storage)}
        rows={storage.data?.tables}
        rowKey={({ name }) => name}
        empty={{ title: say('storageEmpty') }}
      />
    </Panel>
  )
}

function useColumns(): Column<Storage['tables'][number]>[] {
  const say = useText(texts)
  const sizeOf = useSize()
  return [
    {
      key: 'table',
      title: say('table'),
      heads: true,
      cell: ({ name, partitions: count }) => (
        <span className={styles.tags}>
          <code>{name}</code>
          {count > 0 && <small className={shared.note}>{say('partitions', { count })}</small>}
        </span>
      ),
    },
    { key: 'size', title: say('size'), align: 'right', cell: ({ bytes }) => sizeOf(bytes) },
  ]
}

function useSize(): (bytes: number) => string {
  const local = useLocal()
  return (bytes) => inLargerUnits(bytes, units.bytes, local) ?? `${bytes} B`
}
