import { IconBell } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { type Alert, alertRuleIds, alertRuleText } from '../../../contract/entities/alert.ts'
import { inOwnLanguage } from '../../../contract/text.ts'
import { logSearchOf } from '../../lib/firing.ts'
import { useLanguage, useLocal, useText } from '../../lib/i18n.ts'
import { DataTable } from '../../ui/list/data-table.tsx'
import { ListFilters } from '../../ui/list/list-filters.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { useListState } from '../../ui/list/list-state.ts'
import type { Column } from '../../ui/list/listing.ts'
import shared from '../../ui/shared.module.css'
import { Tag } from '../../ui/view/tag.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import { texts } from './texts.ts'
import { alertValue } from './units.ts'

/** The history of alerts, newest first. */
export function HistoryTab() {
  const say = useText(texts)
  const local = useLocal()
  const state = useListState({ rule: '' })
  const list = useList('GET /api/alert/history/', state, { every: 30_000 })
  const choices = alertRuleIds.map((value) => ({ value, label: local(alertRuleText(value).label) }))
  return (
    <DataTable
      label={say('tabHistory')}
      dense
      columns={useColumns()}
      {...list}
      rowKey={({ id }) => id}
      page={state.page}
      onPage={state.onPage}
      toolbar={<ListFilters filters={[{ kind: 'select', name: 'rule', label: say('rule'), choices }]} {...state} />}
      empty={{ title: say('historyEmpty'), hint: say('historyEmptyHint'), icon: <IconBell /> }}
    />
  )
}

function AlertSubject({ alert: { subject, name, note } }: { alert: Alert }) {
  const language = useLanguage()
  return (
    <>
      {name || subject}
      {note !== '' && <div className={shared.note}>{inOwnLanguage(note, language)}</div>}
    </>
  )
}

function useColumns(): Column<Alert>[] {
  const say = useText(texts)
  const local = useLocal()
  return [
    { key: 'rule', title: say('rule'), heads: true, cell: ({ rule }) => local(alertRuleText(rule).label) },
    {
      key: 'state',
      title: say('state'),
      inCard: 'state',
      cell: ({ resolved_at: at }) => (
        <Tag dot color={at === 0 ? 'red' : 'green'}>
          {say(at === 0 ? 'stillFiring' : 'resolved')}
        </Tag>
      ),
    },
    { key: 'subject', title: say('subject'), inCard: 'figure', cell: (one) => <AlertSubject alert={one} /> },
    {
      key: 'value',
      title: say('value'),
      inCard: 'figure',
      align: 'right',
      cell: ({ rule, value }) => alertValue(value, alertRuleText(rule).unit, local),
    },
    { key: 'fired', title: say('fired'), cell: ({ fired_at: at }) => <TimeText seconds={at} /> },
    { key: 'resolved', title: say('resolved'), cell: ({ resolved_at: at }) => (at === 0 ? null : <TimeText seconds={at} />) },
    {
      key: 'messages',
      title: say('messages'),
      align: 'right',
      cell: ({ messages }) => (messages === 0 ? <span className={shared.note}>{say('messagesNone')}</span> : messages),
    },
    {
      key: 'links',
      title: say('logs'),
      cell: (one) => (
        <Link to="/log" search={logSearchOf(one)}>
          {say('viewLogs')}
        </Link>
      ),
    },
  ]
}
