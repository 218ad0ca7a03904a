import { Button, Skeleton } from '@mantine/core'
import { IconDeviceDesktop, IconDeviceMobile } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { OwnSession } from '../../../contract/entities/user.ts'
import { useText } from '../../lib/i18n.ts'
import { read, useWrite } from '../../lib/query.ts'
import { confirm } from '../../ui/dialog/confirm.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import { Tag } from '../../ui/view/tag.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import { describeBrowser } from './describe-browser.ts'
import styles from './personal.module.css'
import { texts } from './texts.ts'

/** More than these are shown on demand. */
const fewMax = 3

/** The active sessions of the user. */
export function SessionsCard() {
  const say = useText(texts)
  const sessions = useQuery(read('GET /api/user/sessions'))
  const [all, setAll] = useState(false)
  const others = sessions.data?.filter(({ current }) => !current) ?? []
  const endAll = useWrite('DELETE /api/user/sessions', {
    invalidates: ['GET /api/user/sessions'],
    success: say('sessionsEnded'),
  })

  async function ask(): Promise<void> {
    const title = say('sessionsEndTitle')
    if (await confirm({ title, body: say('sessionsEndBody'), confirmLabel: say('sessionsEnd') })) endAll.mutate({})
  }

  return (
    <Panel
      title={say('sessions')}
      description={say('sessionsHint')}
      aside={
        <Button
          variant="default"
          size="compact-md"
          disabled={others.length === 0}
          loading={endAll.isPending}
          onClick={() => void ask()}
        >
          {say('sessionsEnd')}
        </Button>
      }
    >
      {sessions.data ? (
        <>
          <ul className={styles.list}>
            {[...sessions.data.filter(({ current }) => current), ...others].slice(0, all ? undefined : fewMax).map((session) => (
              <li key={session.id}>
                <Place session={session} />
              </li>
            ))}
          </ul>
          {sessions.data.length > fewMax && (
            <Button variant="subtle" size="compact-md" mt="xs" aria-expanded={all} onClick={() => setAll(!all)}>
              {all ? say('showFewer') : say('sessionsAll', { count: sessions.data.length })}
            </Button>
          )}
        </>
      ) : sessions.error ? (
        <ErrorView error={sessions.error} onRetry={() => void sessions.refetch()} />
      ) : (
        <Skeleton height={44} />
      )}
    </Panel>
  )
}

function Place({ session }: { session: OwnSession }) {
  const say = useText(texts)
  const { name, mobile } = describeBrowser(session.user_agent)
  const Icon = mobile ? IconDeviceMobile : IconDeviceDesktop
  const end = useWrite('DELETE /api/user/sessions/:id', {
    invalidates: ['GET /api/user/sessions'],
    success: say('sessionEnded'),
  })
  return (
    <div className={styles.row}>
      <Icon size={20} stroke={1.5} aria-hidden="true" />
      <span className={styles.words}>
        <span title={session.user_agent}>{name || say('unknownBrowser')}</span>
        <small className={shared.note}>
          {session.address} · {say('lastSeen')} <TimeText seconds={session.seen_at} />
        </small>
      </span>
      {session.current ? (
        <Tag color="green">{say('sessionHere')}</Tag>
      ) : (
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          loading={end.isPending}
          aria-label={`${say('sessionEnd')}: ${name || say('unknownBrowser')}, ${session.address}`}
          onClick={() => end.mutate({ params: { id: session.id } })}
        >
          {say('sessionEnd')}
        </Button>
      )}
    </div>
  )
}
