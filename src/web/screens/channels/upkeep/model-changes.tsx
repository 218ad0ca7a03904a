import { Button, Checkbox } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ModelChanges } from '../../../../contract/entities/channel.ts'
import { useText } from '../../../lib/i18n.ts'
import { read, useWrite } from '../../../lib/query.ts'
import { formatTime } from '../../../lib/times.ts'
import { Dialog } from '../../../ui/dialog/dialog.tsx'
import { Empty } from '../../../ui/page/empty.tsx'
import { ErrorView } from '../../../ui/page/error-view.tsx'
import shared from '../../../ui/shared.module.css'
import { Tag } from '../../../ui/view/tag.tsx'
import { texts } from './texts.ts'
import styles from './upkeep.module.css'
import type { Jobs } from './use-jobs.ts'

/** Models that upstreams have added and removed, to apply or dismiss by channel. */
export function ModelChangesDialog({ jobs, onClose }: { jobs: Jobs; onClose: () => void }) {
  const say = useText(texts)
  const changes = useQuery(read('GET /api/channel/model_changes'))
  const isChecking = jobs.isRunning('check-models')
  const job = jobs.watched.find(({ name }) => name === 'check-models')
  return (
    <Dialog title={say('changesTitle')} size={760} onClose={onClose}>
      <div className={shared.spread}>
        <p className={styles.hint}>{say('changesHint')}</p>
        <Button
          variant="default"
          leftSection={<IconRefresh size={16} />}
          loading={isChecking}
          onClick={() => jobs.start('check-models')}
        >
          {say('check')}
        </Button>
      </div>
      {isChecking && job && (
        <p className={styles.hint} role="status">
          {say('progress', { job: say('jobModels'), done: job.done, total: job.total })}
        </p>
      )}
      {changes.error && <ErrorView error={changes.error} onRetry={() => void changes.refetch()} />}
      {changes.data?.length === 0 && !isChecking && <Empty title={say('changesEmpty')} hint={say('changesEmptyHint')} />}
      {changes.data?.map((change) => (
        // New changes are all selected at first.
        <ChannelChanges key={`${change.channel_id} ${change.checked_at}`} change={change} />
      ))}
    </Dialog>
  )
}

const invalidates = ['GET /api/channel/model_changes', 'GET /api/channel/search'] as const

function ChannelChanges({ change: { channel_id: id, name, added, removed, checked_at } }: { change: ModelChanges }) {
  const say = useText(texts)
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const apply = useWrite('POST /api/channel/:id/model_changes/apply', { invalidates, success: say('applied', { name }) })
  const dismiss = useWrite('POST /api/channel/:id/model_changes/dismiss', { invalidates, success: say('dismissed', { name }) })
  const busy = apply.isPending || dismiss.isPending
  const taken = (models: readonly string[]) => models.filter((model) => !left.has(model))
  const count = taken(added).length + taken(removed).length

  function toggle(model: string): void {
    const next = new Set(left)
    if (!next.delete(model)) next.add(model)
    setLeft(next)
  }

  return (
    <section className={styles.change} aria-label={name}>
      <header className={shared.spread}>
        <h3 className={shared.heading}>
          {name} <span className={`${shared.note} ${shared.aside}`}>#{id}</span>
        </h3>
        <span className={shared.note}>{say('checkedAt', { time: formatTime(checked_at) })}</span>
      </header>
      {(['added', 'removed'] as const).map((kind) => {
        const models = kind === 'added' ? added : removed
        return (
          models.length > 0 && (
            <fieldset key={kind} className={styles.models}>
              <legend>
                <Tag color={kind === 'added' ? 'green' : 'red'}>{say(kind, { count: models.length })}</Tag>
              </legend>
              {models.map((model) => (
                <Checkbox key={model} size="xs" label={model} checked={!left.has(model)} onChange={() => toggle(model)} />
              ))}
            </fieldset>
          )
        )
      })}
      <div className={styles.changeTools}>
        <Button
          size="compact-sm"
          disabled={busy || count === 0}
          onClick={() => apply.mutate({ params: { id }, body: { add: taken(added), remove: taken(removed) } })}
        >
          {say('apply', { count })}
        </Button>
        <Button size="compact-sm" variant="default" disabled={busy} onClick={() => dismiss.mutate({ params: { id } })}>
          {say('ignore')}
        </Button>
      </div>
    </section>
  )
}
