import { Button } from '@mantine/core'
import { IconCloudOff, IconRefresh } from '@tabler/icons-react'
import { Component, type ReactNode } from 'react'
import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import { Empty } from './empty.tsx'

interface ErrorViewProps {
  readonly title?: string
  readonly error: unknown
  readonly onRetry?: () => void
  /** It is the only content of the page, so its title is the heading. */
  readonly isPage?: boolean
}

/** Why something could not be loaded, with a way to try again. */
export function ErrorView({ title, error, onRetry, isPage = false }: ErrorViewProps) {
  const say = useText(texts)
  const message = error instanceof Error && error.message !== '' ? error.message : say('errorHint')
  return (
    <div role="alert">
      <Empty
        isPage={isPage}
        icon={<IconCloudOff />}
        title={title ?? say('errorTitle')}
        hint={message}
        action={
          onRetry && (
            <Button variant="default" leftSection={<IconRefresh size={16} />} onClick={onRetry}>
              {say('retry')}
            </Button>
          )
        }
      />
    </div>
  )
}

function BrokenView({ error }: { error: Error }) {
  const say = useText(texts)
  return (
    <div role="alert">
      <Empty
        icon={<IconCloudOff />}
        title={say('brokenTitle')}
        hint={`${say('errorHint')} (${error.message})`}
        action={
          <Button variant="default" leftSection={<IconRefresh size={16} />} onClick={() => window.location.reload()}>
            {say('reload')}
          </Button>
        }
      />
    </div>
  )
}

/** Keeps an error in one part from breaking the whole page. A change of `resetKey` renders the part again. */
export class ErrorBoundary extends Component<{ children: ReactNode; resetKey?: string }, { error?: Error; resetKey?: string }> {
  override state: { error?: Error; resetKey?: string } = {}

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  static getDerivedStateFromProps(props: { resetKey?: string }, state: { error?: Error; resetKey?: string }) {
    return props.resetKey === state.resetKey ? null : { error: undefined, resetKey: props.resetKey }
  }

  override render() {
    return this.state.error ? <BrokenView error={this.state.error} /> : this.props.children
  }
}
