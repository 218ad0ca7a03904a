import { IconHistory } from '@tabler/icons-react'
import { useState } from 'react'
import { auditedChanges, auditSentence } from '../../../contract/audit-actions.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { usePageSize } from '../../lib/page-size.ts'
import type { Payer } from '../../lib/payer.ts'
import { DataTable } from '../../ui/list/data-table.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import { TimeText } from '../../ui/view/time-text.tsx'
import styles from './organisation.module.css'
import { texts } from './texts.ts'

/** Who changed what in the organisation. */
export function AuditTab({ payer }: { payer: Payer }) {
  const say = useText(texts)
  const local = useLocal()
  const [page, setPage] = useState(1)
  const list = useList('GET /api/organisation/:id/audit', {
    params: { id: payer.id },
    query: { p: page, page_size: usePageSize() },
  })
  return (
    <Panel title={say('tabAudit')}>
      <DataTable
        label={say('tabAudit')}
        dense
        {...list}
        page={page}
        onPage={setPage}
        rowKey={({ id }) => id}
        columns={[
          { key: 'time', title: say('time'), cell: ({ created_at: at }) => <TimeText seconds={at} /> },
          { key: 'actor', title: say('actor'), cell: ({ actor_name: name }) => name },
          {
            key: 'action',
            title: say('action'),
            heads: true,
            cell: (row) => local(auditSentence({ ...row, target: `organisation:${payer.name}` }, () => undefined)),
          },
          {
            key: 'changes',
            title: say('changes'),
            cell: (row) => (
              <span className={styles.changes}>
                {auditedChanges(row).map(({ name, before, after }) => (
                  <span key={name}>
                    <span className={shared.quiet}>{name}</span> <code className={shared.smallCode}>{before || '–'}</code> →{' '}
                    <code className={shared.smallCode}>{after || '–'}</code>
                  </span>
                ))}
              </span>
            ),
          },
        ]}
        empty={{ title: say('noHistory'), icon: <IconHistory /> }}
      />
    </Panel>
  )
}
