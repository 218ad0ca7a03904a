import { IconListDetails, IconPencil, IconPlayerPlay, IconTargetArrow } from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import type { QualityCheck } from '../../../contract/entities/quality-check.ts'
import { useText } from '../../lib/i18n.ts'
import { useWrite } from '../../lib/query.ts'
import { ListFrame } from '../../ui/list/list-frame.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { useListState } from '../../ui/list/list-state.ts'
import type { Column } from '../../ui/list/listing.ts'
import { actionIcon, type RowAction } from '../../ui/list/row-action.ts'
import { RowActions } from '../../ui/list/row-actions.tsx'
import { deleteAction, toggleAction } from '../../ui/list/row-common-actions.tsx'
import shared from '../../ui/shared.module.css'
import { TimeText } from '../../ui/view/time-text.tsx'
import { intervalText } from './intervals.ts'
import styles from './quality.module.css'
import { CheckState, shareText } from './state-tag.tsx'
import { texts } from './texts.ts'
import { checkLines, refetchOf, useRun } from './use-check-writes.ts'

interface Props {
  readonly onAdd: () => void
  readonly onEdit: (check: QualityCheck) => void
}

export function CheckList({ onAdd, onEdit }: Props) {
  const say = useText(texts)
  const state = useListState({ keyword: '' })
  const list = useList('GET /api/quality_check/', state, { every: refetchOf })
  return (
    <ListFrame
      name="quality-checks"
      title={say('title')}
      description={say('description')}
      state={state}
      {...list}
      columns={useColumns()}
      filters={[{ kind: 'search', name: 'keyword', label: say('search'), width: 260 }]}
      isMuted={({ enabled }) => !enabled}
      rowActions={(check, forget) => <Actions check={check} onEdit={() => onEdit(check)} onDeleted={forget} />}
      add={{ label: say('add'), onClick: onAdd }}
      empty={{ title: say('emptyTitle'), hint: say('emptyHint'), icon: <IconTargetArrow /> }}
    />
  )
}

function useColumns(): Column<QualityCheck>[] {
  const say = useText(texts)
  return [
    {
      key: 'name',
      title: say('name'),
      heads: true,
      cell: ({ id, name, models }) => (
        <span className={`${shared.stacked} ${styles.name}`}>
          <Link to="/quality/$id" params={{ id: String(id) }}>
            {name}
          </Link>
          <small>{models.join(', ')}</small>
        </span>
      ),
    },
    { key: 'state', title: say('state'), inCard: 'state', cell: (check) => <CheckState check={check} /> },
    { key: 'share', title: say('share'), inCard: 'figure', align: 'right', cell: (check) => <Share check={check} /> },
    {
      key: 'interval',
      title: say('interval'),
      hideable: true,
      cell: ({ interval_minutes: minutes }) => intervalText(minutes, say),
    },
    {
      key: 'lastRun',
      title: say('lastRun'),
      inCard: 'figure',
      hideable: true,
      cell: ({ last_run_at: at }) => <TimeText seconds={at} />,
    },
    {
      key: 'nextRun',
      title: say('nextRun'),
      hideable: true,
      cell: ({ enabled, next_run_at: at }) => <TimeText seconds={enabled ? at : 0} />,
    },
  ]
}

/** The share over all channels and models, and the lowest one if they differ. */
function Share({ check: { standings } }: { check: QualityCheck }) {
  const say = useText(texts)
  const shares = standings.map(({ share }) => share).filter((share) => share >= 0)
  if (shares.length === 0) return <span className={shared.note}>—</span>
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length
  const lowest = Math.min(...shares)
  return (
    <>
      {shareText(mean)} {lowest < mean && <span className={shared.note}>{say('lowest', { share: shareText(lowest) })}</span>}
    </>
  )
}

function Actions({ check, onEdit, onDeleted }: { check: QualityCheck; onEdit: () => void; onDeleted: () => void }) {
  const say = useText(texts)
  const navigate = useNavigate()
  const { id, name, enabled } = check
  const run = useRun(name)
  const toggle = useWrite('PUT /api/quality_check/:id/enabled', {
    invalidates: checkLines,
    success: say(enabled ? 'disabledDone' : 'enabledDone', { name }),
  })
  const remove = useWrite('DELETE /api/quality_check/:id', {
    invalidates: checkLines,
    success: say('deleted', { name }),
    onSuccess: onDeleted,
  })
  const actions: RowAction[] = [
    {
      label: say('run'),
      icon: <IconPlayerPlay {...actionIcon} />,
      primary: true,
      busy: run.isPending,
      disabled: check.is_running,
      onClick: () => run.mutate({ params: { id } }),
    },
    { label: say('edit'), icon: <IconPencil {...actionIcon} />, primary: true, onClick: onEdit },
    {
      label: say('history'),
      icon: <IconListDetails {...actionIcon} />,
      onClick: () => void navigate({ to: '/quality/$id', params: { id: String(id) } }),
    },
    toggleAction(say, {
      isOn: enabled,
      disabled: toggle.isPending,
      onClick: () => toggle.mutate({ params: { id }, body: { enabled: !enabled } }),
    }),
    deleteAction(say, { object: name, onClick: () => remove.mutate({ params: { id } }) }),
  ]
  return <RowActions name={name} actions={actions} />
}
