import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { type AlertSilence, alertRuleText, everyAlertRule } from '../../../contract/entities/alert.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { DataTable } from '../../ui/list/data-table.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import type { Column } from '../../ui/list/listing.ts'
import { Panel } from '../../ui/page/panel.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import { texts } from './texts.ts'

/** The silenced rules and subjects, with the end of each silence. */
export function SilencesPanel({ onAdd }: { onAdd: () => void }) {
  const say = useText(texts)
  return (
    <Panel
      title={say('silences')}
      description={say('silencesHint')}
      aside={
        <Button variant="default" leftSection={<IconPlus size={16} />} onClick={onAdd}>
          {say('addSilence')}
        </Button>
      }
    >
      <DataTable
        label={say('silences')}
        dense
        columns={useColumns()}
        {...useList('GET /api/alert/silence/', {})}
        rowKey={({ id }) => id}
        rowActions={({ id }) => <EndButton id={id} />}
        empty={{ title: say('silencesNone') }}
      />
    </Panel>
  )
}

function EndButton({ id }: { id: number }) {
  const say = useText(texts)
  const end = useWrite('DELETE /api/alert/silence/:id', { invalidates: ['GET /api/alert/silence/'] })
  return (
    <Button size="compact-sm" variant="default" loading={end.isPending} onClick={() => end.mutate({ params: { id } })}>
      {say('endSilence')}
    </Button>
  )
}

function useColumns(): Column<AlertSilence>[] {
  const say = useText(texts)
  const local = useLocal()
  return [
    {
      key: 'rule',
      title: say('rule'),
      heads: true,
      cell: ({ rule }) => (rule === '' ? local(everyAlertRule) : local(alertRuleText(rule).label)),
    },
    { key: 'subject', title: say('subject'), cell: ({ subject }) => subject || say('silenceAllSubjects') },
    { key: 'until', title: say('until'), cell: ({ until }) => <TimeText seconds={until} /> },
    { key: 'by', title: say('createdBy'), cell: ({ created_by }) => created_by },
    { key: 'comment', title: say('comment'), cell: ({ comment }) => comment || null },
  ]
}
