import { Button } from '@mantine/core'
import { type RecordingRule, recordingKindLabels } from '../../../../contract/entities/recording.ts'
import { useLocal, useText } from '../../../lib/i18n.ts'
import { useWrite } from '../../../lib/query.ts'
import { Dialog } from '../../../ui/dialog/dialog.tsx'
import { DataTable } from '../../../ui/list/data-table.tsx'
import { useList, usePages } from '../../../ui/list/list-rows.ts'
import type { Column } from '../../../ui/list/listing.ts'
import { RuleForm } from '../../../ui/recording/record-dialog.tsx'
import { texts } from '../../../ui/recording/texts.ts'
import { TimeText } from '../../../ui/view/time-text.tsx'

/** Which calls are recorded at present, and a share of all calls; for super admins. */
export function RulesDialog({ onClose }: { onClose: () => void }) {
  const say = useText(texts)
  const columns = useColumns()
  const rules = useList('GET /api/recording/rules', {})
  const pages = usePages(rules.rows)
  const stop = useWrite('PUT /api/recording/rules', {
    invalidates: ['GET /api/recording/rules', 'GET /api/recording/self'],
    success: say('stopped'),
  })
  return (
    <Dialog title={say('titleSite')} size={720} onClose={onClose}>
      <DataTable
        label={say('inForce')}
        dense
        columns={columns}
        {...rules}
        {...pages}
        rowKey={({ kind, target }) => `${kind}:${target}`}
        rowActions={({ kind, target }) => (
          <Button
            size="compact-sm"
            variant="default"
            disabled={stop.isPending}
            onClick={() => stop.mutate({ body: { kind, target, until: 0 } })}
          >
            {say('stop')}
          </Button>
        )}
        empty={{ title: say('none') }}
      />
      <h3>{say('site')}</h3>
      <RuleForm kind="share" target={0} />
    </Dialog>
  )
}

function useColumns(): Column<RecordingRule>[] {
  const say = useText(texts)
  const local = useLocal()
  return [
    { key: 'kind', title: say('kind'), cell: ({ kind }) => local(recordingKindLabels[kind]) },
    {
      key: 'target',
      title: say('target'),
      heads: true,
      cell: ({ kind, target, name }) => (kind === 'share' ? say('site') : `${name} #${target}`),
    },
    { key: 'share', title: say('share'), align: 'right', cell: ({ per_mille: share }) => share },
    { key: 'until', title: say('until'), cell: ({ until }) => <TimeText seconds={until} /> },
    { key: 'by', title: say('by'), cell: ({ created_by: by }) => by },
  ]
}
