import { Button, Title } from '@mantine/core'
import { IconArrowRight, IconSpeakerphone } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { sitePath } from '../../lib/base-path.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { useServerAddress } from '../../lib/server-address.ts'
import { useMay, useSession } from '../../lib/session.ts'
import { useStatus } from '../../lib/status.ts'
import { Panel } from '../../ui/page/panel.tsx'
import { ReadingPage } from '../../ui/page/reading-page.tsx'
import shared from '../../ui/shared.module.css'
import { SiteContent, SiteText } from '../../ui/text/site-content.tsx'
import { CopyText } from '../../ui/view/copy-text.tsx'
import styles from './home.module.css'
import { useUnread } from './read-notice.ts'
import { texts } from './texts.ts'

const NoticeDialog = lazy(async () => ({ default: (await import('./notice-dialog.tsx')).NoticeDialog }))
const FirstRun = lazy(async () => ({ default: (await import('./first-run.tsx')).FirstRun }))

/** The start page: the operator's own content, or a welcome text with the base URL for clients. */
export function Screen() {
  const say = useText(texts)
  const notice = useQuery(read('GET /api/notice'))
  const content = useQuery(read('GET /api/home_page_content'))
  const { system_name: name } = useStatus()
  const isAdmin = useMay('admin')
  const text = notice.data?.trim() ?? ''
  const unread = useUnread(text) && text !== ''

  return (
    <ReadingPage>
      <Suspense>
        {unread && <NoticeDialog notice={text} />}
        {isAdmin && <FirstRun />}
      </Suspense>
      {text !== '' && !unread && (
        <Panel
          title={
            <span className={styles.noticeTitle}>
              <IconSpeakerphone size={18} stroke={1.6} aria-hidden="true" /> {say('notice')}
            </span>
          }
        >
          <SiteText text={text} />
        </Panel>
      )}
      {content.data?.trim() ? <SiteContent text={content.data} title={name} /> : !content.isPending && <Welcome />}
    </ReadingPage>
  )
}

function Welcome() {
  const say = useText(texts)
  const user = useSession()
  const { system_name: name, logo, status_page_enabled: hasStatusPage } = useStatus()
  const base = `${useServerAddress()}/v1`

  return (
    <div className={styles.welcome}>
      <img src={logo || sitePath('/logo.png')} alt="" width={72} height={72} />
      <Title order={1} className={styles.name ?? ''}>
        {name}
      </Title>
      <p className={styles.lead}>{say('lead')}</p>
      <div className={styles.address}>
        <span className={shared.hint}>{say('address')}</span>
        <CopyText text={base}>
          <code className={shared.code}>{base}</code>
        </CopyText>
      </div>
      <Button component={Link} to={user ? '/token' : '/login'} size="md" rightSection={<IconArrowRight size={18} />}>
        {say(user ? 'console' : 'login')}
      </Button>
      {hasStatusPage && (
        <Link to="/status" className={styles.status}>
          {say('serviceStatus')}
        </Link>
      )}
    </div>
  )
}
