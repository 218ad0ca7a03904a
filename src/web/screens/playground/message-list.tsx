import { Button } from '@mantine/core'
import { IconArrowDown, IconMessageCircle } from '@tabler/icons-react'
import { useText } from '../../lib/i18n.ts'
import { Empty } from '../../ui/empty.tsx'
import { MessageView } from './message-view.tsx'
import { isRunning, type Message } from './messages.ts'
import styles from './playground.module.css'
import type { useStickToBottom } from './stick-to-bottom.ts'
import { texts } from './texts.ts'

export interface MessageListProps {
  readonly messages: readonly Message[]
  readonly stick: ReturnType<typeof useStickToBottom>
  readonly onRetry: () => void
  readonly onEdit: (message: Message) => void
  readonly onRemove: (message: Message) => void
}

/** The conversation; it follows what is being written until its reader scrolls up. */
export function MessageList({ messages, stick, onRetry, onEdit, onRemove }: MessageListProps) {
  const say = useText(texts)
  const last = messages.at(-1)
  const running = last !== undefined && isRunning(last)
  const lastQuestion = messages.findLast(({ role }) => role === 'user')

  return (
    <div className={styles.messages}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable */}
      <section ref={stick.scroller} className={styles.scroller} aria-label={say('conversation')} tabIndex={0}>
        <div ref={stick.content}>
          {messages.length === 0 ? (
            <Empty icon={<IconMessageCircle />} title={say('welcome')} hint={say('welcomeHint')} />
          ) : (
            <ol className={styles.list}>
              {messages.map((message) => (
                <MessageView
                  key={message.id}
                  message={message}
                  onRetry={!running && message === last ? onRetry : undefined}
                  onEdit={!running && message === lastQuestion ? () => onEdit(message) : undefined}
                  onRemove={running ? undefined : () => onRemove(message)}
                />
              ))}
            </ol>
          )}
        </div>
      </section>
      <div className={styles.unseen} role="status">
        {running ? say('answering') : last?.state === 'complete' && last.role === 'assistant' && say('answered')}
      </div>
      {stick.isAway && (
        <Button
          className={styles.toBottom ?? ''}
          size="compact-sm"
          variant="default"
          leftSection={<IconArrowDown size={15} />}
          onClick={stick.toBottom}
        >
          {say('toBottom')}
        </Button>
      )}
    </div>
  )
}
