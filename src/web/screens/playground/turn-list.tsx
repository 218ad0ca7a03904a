import { Button, VisuallyHidden } from '@mantine/core'
import { IconArrowDown, IconMessageCircle } from '@tabler/icons-react'
import { useText } from '../../lib/i18n.ts'
import { Empty } from '../../ui/page/empty.tsx'
import styles from './playground.module.css'
import type { useStickToBottom } from './stick-to-bottom.ts'
import { texts } from './texts.ts'
import { type TurnActions, TurnView } from './turn-view.tsx'
import { isAnswering, type Turn } from './turns.ts'

interface TurnListProps extends TurnActions {
  readonly turns: readonly Turn[]
  readonly stick: ReturnType<typeof useStickToBottom>
}

/** The conversation; it follows the text being written until the reader scrolls up. */
export function TurnList({ turns, stick, ...actions }: TurnListProps) {
  const say = useText(texts)
  const last = turns.at(-1)
  const running = isAnswering(turns)
  const answered = last !== undefined && last.answers.length > 0 && last.answers.every(({ state }) => state === 'complete')

  return (
    <div className={styles.messages}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable */}
      <section ref={stick.scroller} className={styles.scroller} aria-label={say('conversation')} tabIndex={0}>
        <div ref={stick.content}>
          {turns.length === 0 ? (
            <Empty icon={<IconMessageCircle />} title={say('welcome')} hint={say('welcomeHint')} />
          ) : (
            <ol className={styles.list}>
              {turns.map((turn) => (
                <TurnView key={turn.id} turn={turn} isLast={turn === last} running={running} {...actions} />
              ))}
            </ol>
          )}
        </div>
      </section>
      <VisuallyHidden role="status">{running ? say('answering') : answered && say('answered')}</VisuallyHidden>
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
