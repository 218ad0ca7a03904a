import { Box } from '@mantine/core'
import { IconShieldCheck } from '@tabler/icons-react'
import { auditedChanges, auditSentence } from '../../../../contract/audit-actions.ts'
import type { AuditRow } from '../../../../contract/entities/system.ts'
import { findOption } from '../../../../contract/options/index.ts'
import type { CallReply } from '../../../lib/call.ts'
import { useLocal, useText } from '../../../lib/i18n.ts'
import { useWrite } from '../../../lib/query.ts'
import { FileButton } from '../../../ui/list/list-file.tsx'
import type { Filter } from '../../../ui/list/list-filters.tsx'
import { useList } from '../../../ui/list/list-rows.ts'
import { useListState } from '../../../ui/list/list-state.ts'
import { ListTable } from '../../../ui/list/list-table.tsx'
import type { Column } from '../../../ui/list/listing.ts'
import { HeadButton } from '../../../ui/page/head-button.tsx'
import { Notice } from '../../../ui/page/notice.tsx'
import { Panel } from '../../../ui/page/panel.tsx'
import shared from '../../../ui/shared.module.css'
import { TimeText } from '../../../ui/view/time-text.tsx'
import styles from './audit.module.css'
import { texts } from './texts.ts'

/** Every administrative action, to search; and whether the record is intact. */
export function AuditLog() {
  const say = useText(texts)
  const state = useListState({ actor: '', action: '', target: '', from: 0, to: 0 }, { sort: '-id' })
  const { from, to, ...words } = state.asked
  const filter = { ...words, start_timestamp: from, end_timestamp: to }
  const list = useList('GET /api/audit/', { query: { ...filter, ...state.order, ...state.paging } })
  const verify = useWrite('POST /api/audit/verify')
  const filters: readonly Filter[] = [
    { kind: 'text', name: 'actor', label: say('actorFilter'), width: 170 },
    { kind: 'text', name: 'action', label: say('actionFilter'), width: 200 },
    { kind: 'text', name: 'target', label: say('targetFilter'), width: 200 },
    { kind: 'time', from: 'from', to: 'to', label: say('timeFilter') },
  ]

  return (
    <Panel
      title={say('title')}
      description={say('description')}
      aside={
        <div className={styles.actions}>
          <FileButton line="GET /api/audit/export.csv" name="audit.csv" query={filter} />
          <HeadButton label={say('verify')} icon={IconShieldCheck} loading={verify.isPending} onClick={() => verify.mutate({})} />
        </div>
      }
    >
      {verify.data && <Result state={verify.data} />}
      <ListTable
        label={say('title')}
        name="audit"
        dense
        state={state}
        {...list}
        columns={useColumns()}
        filters={filters}
        expand={(row) => <Change row={row} />}
        empty={{ title: say('empty'), hint: say('emptyHint'), icon: <IconShieldCheck /> }}
      />
    </Panel>
  )
}

function useColumns(): Column<AuditRow>[] {
  const say = useText(texts)
  return [
    { key: 'time', title: say('time'), sortKey: 'id', cell: ({ created_at }) => <TimeText seconds={created_at} /> },
    {
      key: 'actor',
      title: say('actor'),
      cell: ({ actor_id, actor_name }) => (actor_id === 0 ? <span className={shared.quiet}>{say('system')}</span> : actor_name),
    },
    { key: 'action', title: say('action'), heads: true, cell: (row) => <Sentence row={row} /> },
    { key: 'changes', title: say('changes'), hideable: true, cell: (row) => <Changes row={row} /> },
    {
      key: 'address',
      title: say('address'),
      hideable: true,
      cell: ({ address }) => <code className={shared.smallCode}>{address}</code>,
    },
  ]
}

/** The name of the action, for searches, is where the pointer rests. */
function Sentence({ row }: { row: AuditRow }) {
  const local = useLocal()
  return <span title={`${row.action} ${row.target}`}>{local(auditSentence(row, (key) => findOption(key)?.option.label))}</span>
}

const changesShown = 3
const lengthShown = 40

function Changes({ row }: { row: AuditRow }) {
  const say = useText(texts)
  const changes = auditedChanges(row)
  if (changes.length === 0) return <span className={shared.quiet}>{say('none')}</span>
  const more = changes.length - changesShown
  return (
    <span className={styles.changes}>
      {changes.slice(0, changesShown).map(({ name, before, after }) => (
        <span key={name}>
          {name !== '' && <span className={shared.quiet}>{name} </span>}
          <code className={shared.smallCode}>{short(before) || '–'}</code> →{' '}
          <code className={shared.smallCode}>{short(after) || '–'}</code>
        </span>
      ))}
      {more > 0 && <span className={shared.quiet}>{say('more', { count: more })}</span>}
    </span>
  )
}

const short = (text: string): string => (text.length > lengthShown ? `${text.slice(0, lengthShown)}…` : text)

/** Both values in full, side by side. */
function Change({ row: { before, after } }: { row: AuditRow }) {
  const say = useText(texts)
  return (
    <div className={styles.change}>
      {[
        { label: say('before'), text: before },
        { label: say('after'), text: after },
      ].map(({ label, text }) => (
        <div key={label}>
          <strong>{label}</strong>
          {/* A scrolling region must be reachable by keyboard. */}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
          <pre className={styles.whole} tabIndex={0}>
            {text || say('none')}
          </pre>
        </div>
      ))}
    </div>
  )
}

/** Whether the chain is intact, once it was checked. */
function Result({ state: { rows, head, broken_at } }: { state: CallReply<'POST /api/audit/verify'> }) {
  const say = useText(texts)
  return (
    <Box mb="md">
      <Notice kind={broken_at === null ? 'info' : 'danger'}>
        {broken_at === null ? say('intact', { rows }) : say('broken', { id: broken_at })}
        {head !== '' && <div className={styles.head}>{say('head', { head })}</div>}
      </Notice>
    </Box>
  )
}
