import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { IconPencil, IconRefresh, IconTrash } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { memo, type ReactNode } from 'react'
import { formatCount, formatDuration } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { CopyButton } from '../../ui/copy-text.tsx'
import { Initial } from '../../ui/initial.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { Notice } from '../../ui/notice.tsx'
import { isRunning, type Message } from './messages.ts'
import styles from './playground.module.css'
import { texts } from './texts.ts'

export interface MessageViewProps {
  readonly message: Message
  /** What can be done with it now; absent for what cannot. */
  readonly onRetry?: () => void
  readonly onEdit?: () => void
  readonly onRemove?: () => void
}

/** One message with its state and what can be done with it. */
export function MessageView(props: MessageViewProps) {
  return props.message.role === 'user' ? <Question {...props} /> : <Answer {...props} />
}

function Question(props: MessageViewProps) {
  const say = useText(texts)
  return (
    <li className={styles.question}>
      <span className={styles.unseen}>{say('you')}</span>
      <div className={styles.bubble}>{props.message.content}</div>
      <Actions {...props} />
    </li>
  )
}

function Answer(props: MessageViewProps) {
  const { message, onRetry } = props
  const say = useText(texts)
  return (
    <li aria-busy={isRunning(message)}>
      <div className={styles.author}>
        <Initial name={message.model || '?'} size={24} />
        <span>{message.model}</span>
      </div>
      <div className={styles.said}>
        <Reasoning message={message} />
        <Said message={message} />
        {message.state === 'error' && (
          <Notice
            kind="danger"
            title={say('failed')}
            action={
              onRetry && (
                <Button size="compact-sm" variant="default" onClick={onRetry}>
                  {say('retry')}
                </Button>
              )
            }
          >
            {message.error}
          </Notice>
        )}
        {!isRunning(message) && (
          <Actions {...props} onRetry={message.state === 'error' ? undefined : onRetry}>
            <Figures message={message} />
          </Actions>
        )}
      </div>
    </li>
  )
}

const Said = memo(function Said({ message: { state, content } }: { message: Message }) {
  const say = useText(texts)
  if (state === 'loading') {
    return (
      <p className={styles.waiting} role="status">
        {say('waiting')}
      </p>
    )
  }
  if (content === '') return state === 'complete' ? <p className={styles.quiet}>{say('emptyAnswer')}</p> : null
  return (
    <div className={styles.text} data-writing={state === 'incomplete'}>
      <Markdown text={content} streaming={state === 'incomplete'} untrusted />
    </div>
  )
})

/** What the model thought before it answered, folded away. */
function Reasoning({ message: { reasoning, content, state } }: { message: Message }) {
  const say = useText(texts)
  if (!reasoning) return null
  const thinking = state === 'incomplete' && content === ''
  return (
    <details className={styles.reasoning}>
      <summary data-writing={thinking}>{say(thinking ? 'thinking' : 'thought')}</summary>
      <div className={styles.thoughts}>{reasoning}</div>
    </details>
  )
}

function Figures({ message: { state, usage, durationMs, requestId } }: { message: Message }) {
  const say = useText(texts)
  const figures = [
    state === 'stopped' && say('stopped'),
    usage && say('usage', { prompt: formatCount(usage.prompt_tokens), completion: formatCount(usage.completion_tokens) }),
    durationMs !== undefined && state !== 'error' && formatDuration(durationMs),
  ].filter((figure) => typeof figure === 'string')
  return (
    <span className={styles.figures}>
      {figures.join(' · ')}
      {requestId && state !== 'error' && (
        <Link to="/log" search={{ from: 0, request_id: requestId }} className={styles.link}>
          {say('inLog')}
        </Link>
      )}
    </span>
  )
}

function Actions({ message, onRetry, onEdit, onRemove, children }: MessageViewProps & { children?: ReactNode }) {
  const say = useText(texts)
  return (
    <div className={styles.actions}>
      {message.content !== '' && <CopyButton text={message.content} label={say('copy')} />}
      <Action label={say('retry')} icon={<IconRefresh size={15} stroke={1.6} />} onClick={onRetry} />
      <Action label={say('edit')} icon={<IconPencil size={15} stroke={1.6} />} onClick={onEdit} />
      <Action label={say('remove')} icon={<IconTrash size={15} stroke={1.6} />} onClick={onRemove} />
      {children}
    </div>
  )
}

function Action({ label, icon, onClick }: { label: string; icon: ReactNode; onClick: (() => void) | undefined }) {
  if (!onClick) return null
  return (
    <Tooltip label={label}>
      <ActionIcon size="sm" aria-label={label} onClick={onClick}>
        {icon}
      </ActionIcon>
    </Tooltip>
  )
}
