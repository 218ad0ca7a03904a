import { Button } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { useEffect } from 'react'
import { useText } from '../../lib/i18n.ts'
import { Empty } from '../../ui/page/empty.tsx'
import { PageHeader } from '../../ui/page/page-header.tsx'
import { Problem } from './problem.tsx'
import { texts } from './texts.ts'
import { secondPage, useChat } from './use-chat.ts'

/** Redirects to the chat page. */
export function Screen() {
  const say = useText(texts)
  const chat = useChat(secondPage)
  const address = chat.kind === 'ready' ? chat.url.href : ''

  // Outside of React: the address of the window.
  useEffect(() => {
    if (address !== '') window.location.assign(address)
  }, [address])

  return (
    <>
      <PageHeader title={say('title')} />
      {chat.kind === 'ready' ? (
        <Empty
          icon={<IconExternalLink />}
          title={say('redirecting')}
          hint={chat.url.host}
          action={
            <Button component="a" href={address} rel="noreferrer" variant="default">
              {say('redirectNow')}
            </Button>
          }
        />
      ) : (
        <Problem chat={chat} />
      )}
    </>
  )
}
