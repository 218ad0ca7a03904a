import { Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import type { RunningAnswer } from '../../../../contract/entities/running-answer.ts'
import { useText } from '../../../lib/i18n.ts'
import { read, useWrite } from '../../../lib/query.ts'
import { useSession } from '../../../lib/session.ts'
import { Notice } from '../../../ui/page/notice.tsx'
import shared from '../../../ui/shared.module.css'
import { TimeText } from '../../../ui/view/time-text.tsx'
import { texts } from '../texts.ts'
import styles from './running.module.css'

const WatchDialog = lazy(async () => ({ default: (await import('./watch-dialog.tsx')).WatchDialog }))

const everyMs = 10_000
const shownMax = 5

/** The streams that are being written and can be continued: each can be stopped, and the own ones watched. */
export function RunningPanel({ isAdmin }: { isAdmin: boolean }) {
  const say = useText(texts)
  const me = useSession()
  const [watched, setWatched] = useState<RunningAnswer>()
  const { data: answers = [] } = useQuery({
    ...(isAdmin ? read('GET /api/log/running') : read('GET /api/log/self/running')),
    refetchInterval: everyMs,
  })
  const stop = useWrite('POST /api/log/running/:request_id/stop', {
    invalidates: ['GET /api/log/running', 'GET /api/log/self/running', 'GET /api/log/', 'GET /api/log/self'],
    success: say('answerStopped'),
  })
  if (answers.length === 0) return null
  return (
    <div className={styles.panel}>
      <Notice title={say('running', { count: answers.length })}>
        <ul className={shared.list} aria-label={say('running', { count: answers.length })}>
          {answers.slice(0, shownMax).map((answer) => (
            <li key={answer.request_id} className={styles.row}>
              <span className={styles.name}>
                <span className={styles.model}>{answer.model}</span> · {answer.token_name || say('ofPlayground')}
                {isAdmin && ` · ${answer.username}`} · <TimeText seconds={answer.created_at} />
                {answer.is_left && <span className={shared.note}> · {say('callerGone')}</span>}
              </span>
              <Group gap="xs" wrap="nowrap">
                {answer.user_id === me?.id && (
                  <Button size="compact-sm" variant="default" onClick={() => setWatched(answer)}>
                    {say('watch')}
                  </Button>
                )}
                <Button
                  size="compact-sm"
                  variant="default"
                  loading={stop.isPending && stop.variables.params.request_id === answer.request_id}
                  onClick={() => stop.mutate({ params: { request_id: answer.request_id } })}
                >
                  {say('stopAnswer')}
                </Button>
              </Group>
            </li>
          ))}
        </ul>
      </Notice>
      <Suspense>{watched && <WatchDialog answer={watched} onClose={() => setWatched(undefined)} />}</Suspense>
    </div>
  )
}
