import { Button, Skeleton } from '@mantine/core'
import { IconMessageOff } from '@tabler/icons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useText } from '../../lib/i18n.ts'
import { useMay } from '../../lib/session.ts'
import { toast } from '../../lib/toast.ts'
import { Empty } from '../../ui/page/empty.tsx'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { texts } from './texts.ts'
import type { Chat } from './use-chat.ts'

const leaveAfterMs = 1500

/** The reason that no chat page is shown, and the next step. */
export function Problem({ chat }: { chat: Exclude<Chat, { kind: 'ready' }> }) {
  switch (chat.kind) {
    case 'waiting':
      return <Skeleton height={320} radius="lg" />
    case 'failed':
      return <ErrorView error={chat.error} onRetry={chat.retry} />
    case 'noToken':
      return <NoToken />
    case 'broken':
    case 'notConfigured':
      return <NoLink kind={chat.kind} />
    default:
      return chat satisfies never
  }
}

function NoLink({ kind }: { kind: 'broken' | 'notConfigured' }) {
  const say = useText(texts)
  const mayConfigure = useMay('admin')
  return (
    <Empty
      icon={<IconMessageOff />}
      title={say(kind)}
      hint={say(mayConfigure ? 'configureHint' : 'askHint')}
      action={
        mayConfigure && (
          <Button
            variant="default"
            renderRoot={(button) => <Link {...button} to="/setting" search={{ tab: 'operation' }} hash="chats" />}
          >
            {say('configure')}
          </Button>
        )
      }
    />
  )
}

/** Redirects to the tokens automatically. */
function NoToken() {
  const say = useText(texts)
  const navigate = useNavigate()
  const warning = say('noToken')

  // Outside of React: the message and the clock.
  useEffect(() => {
    toast.warn(warning)
    const timer = setTimeout(() => void navigate({ to: '/token' }), leaveAfterMs)
    return () => clearTimeout(timer)
  }, [navigate, warning])

  return (
    <Empty
      icon={<IconMessageOff />}
      title={warning}
      hint={say('leading')}
      action={
        <Button component={Link} to="/token" variant="default">
          {say('toTokens')}
        </Button>
      }
    />
  )
}
