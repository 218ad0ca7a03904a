import { Button } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { useParams } from '@tanstack/react-router'
import { isWebPage, openChat } from '../../lib/chat-link.ts'
import { useText } from '../../lib/i18n.ts'
import { Empty } from '../../ui/page/empty.tsx'
import { PageHeader } from '../../ui/page/page-header.tsx'
import styles from './chat.module.css'
import { Problem } from './problem.tsx'
import { texts } from './texts.ts'
import { pageAt, useChat } from './use-chat.ts'

/** An external chat page in a frame, with the key of the first enabled token. */
export function Screen() {
  const say = useText(texts)
  const { id }: { id?: string } = useParams({ strict: false })
  const chat = useChat((status) => pageAt(status, id))
  if (chat.kind !== 'ready') {
    return (
      <>
        <PageHeader title={say('title')} />
        <Problem chat={chat} />
      </>
    )
  }

  const { name, url, token } = chat
  const title = name || say('title')
  const open = (
    <Button variant="default" leftSection={<IconExternalLink size={16} />} onClick={() => openChat(url)}>
      {say(isWebPage(url) ? 'openBeside' : 'openProgram')}
    </Button>
  )
  return (
    <>
      <PageHeader title={title} description={say('uses', { name: token.name })} actions={isFramed(url) && open} />
      {isFramed(url) ? (
        <iframe
          key={url.href}
          className={styles.frame}
          src={url.href}
          title={title}
          sandbox={rightsOf(url)}
          allow="clipboard-write"
          referrerPolicy="no-referrer"
        />
      ) : (
        <Empty icon={<IconExternalLink />} title={say(isWebPage(url) ? 'notFramed' : 'program', { name: title })} action={open} />
      )}
    </>
  )
}

/** Only pages over https may be framed here. */
const isFramed = ({ protocol }: URL): boolean => protocol === 'https:'

/** The page keeps its own origin and storage, unless it is of this site: it would then have the rights of this page. */
function rightsOf(url: URL): string {
  const rights = 'allow-scripts allow-forms allow-popups allow-downloads allow-modals'
  return url.origin === window.location.origin ? rights : `${rights} allow-same-origin`
}
