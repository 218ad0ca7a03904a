import { Button, Skeleton } from '@mantine/core'
import { IconLock } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { isEnded } from '../../../contract/entities/incident.ts'
import type { StatusPage } from '../../../contract/entities/status-page.ts'
import { sitePath } from '../../lib/base-path.ts'
import { ApiError, call } from '../../lib/call.ts'
import { useLanguage, useText } from '../../lib/i18n.ts'
import { useMay, useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { formatTime } from '../../lib/times.ts'
import { Empty } from '../../ui/page/empty.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import { PageHeader } from '../../ui/page/page-header.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import { ReadingPage } from '../../ui/page/reading-page.tsx'
import { IncidentList } from './incidents.tsx'
import { Models } from './models.tsx'
import { StateBanner } from './state.tsx'
import styles from './status.module.css'
import { texts } from './texts.ts'

const refreshMs = 60_000

/** Whether the models of this site answer, for everybody if it is public. */
export function Screen() {
  const isAdmin = useMay('admin')
  const { status_page_enabled: isPublic } = useStatus()
  return isPublic || isAdmin ? <Answer /> : <Private />
}

function Answer() {
  const answer = useStatusPage(useSession()?.id)
  if (answer.data === null) return <Private />
  if (answer.error && !answer.data) return <ErrorView isPage error={answer.error} onRetry={() => void answer.refetch()} />
  return answer.data ? <Page page={answer.data} /> : <Skeleton height={320} radius="lg" />
}

/** Null where the page is no longer public. */
function useStatusPage(userId: number | undefined) {
  return useQuery({
    queryKey: ['GET /api/status_page/', { userId }],
    queryFn: ({ signal }): Promise<StatusPage | null> =>
      call('GET /api/status_page/', { signal }).catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'status_page_private') return null
        throw error
      }),
    refetchInterval: refreshMs,
  })
}

function Private() {
  const say = useText(texts)
  const home = (
    <Button component={Link} to="/" variant="default">
      {say('home')}
    </Button>
  )
  return <Empty isPage icon={<IconLock />} title={say('private')} hint={say('privateHint')} action={home} />
}

function Page({ page }: { page: StatusPage }) {
  const say = useText(texts)
  const language = useLanguage()
  const isAdmin = useMay('admin')
  const current = page.incidents.filter(({ state }) => !isEnded(state))
  const past = page.incidents.filter(({ state }) => isEnded(state))
  return (
    <ReadingPage>
      <PageHeader
        title={say('title')}
        description={say('updated', { time: formatTime(page.updated_at) })}
        actions={
          <>
            {page.is_public && (
              <Button component="a" href={sitePath(`/status/incidents.rss?lang=${language}`)} variant="default">
                {say('feed')}
              </Button>
            )}
            {isAdmin && (
              <Button component={Link} to="/incident" variant="default">
                {say('manage')}
              </Button>
            )}
          </>
        }
      />
      {!page.is_public && (
        <Notice
          action={
            <Button component={Link} to="/setting?tab=operation&section=status-page" variant="default" size="compact-md">
              {say('publish')}
            </Button>
          }
        >
          {say('onlyAdmins')}
        </Notice>
      )}
      <StateBanner state={page.state} />
      {current.length > 0 && (
        <Panel title={say('current')}>
          <IncidentList incidents={current} />
        </Panel>
      )}
      <Models page={page} />
      <Panel title={say('past')}>
        {past.length > 0 ? <IncidentList incidents={past} /> : <p className={styles.none}>{say('noPast')}</p>}
      </Panel>
    </ReadingPage>
  )
}
