import { VisuallyHidden } from '@mantine/core'
import { IconPencil, IconTrash } from '@tabler/icons-react'
import { memo } from 'react'
import { useText } from '../../lib/i18n.ts'
import { CopyButton } from '../../ui/view/copy-text.tsx'
import { PictureThumb } from '../../ui/view/picture-thumb.tsx'
import { AnswerView } from './answer-view.tsx'
import { MessageAction } from './message-action.tsx'
import styles from './playground.module.css'
import { texts } from './texts.ts'
import { type Answer, isRunning, type Turn } from './turns.ts'

/** Actions on a turn and its answers. */
export interface TurnActions {
  readonly onRetry: (answer: Answer) => void
  readonly onEdit: (turn: Turn) => void
  readonly onRemove: (turn: Turn) => void
  readonly onRemoveAnswer: (answer: Answer) => void
  readonly onStop: (answer: Answer) => void
  /** This tab is writing it. */
  readonly isOwn: (answer: Answer) => boolean
}

interface TurnViewProps extends TurnActions {
  readonly turn: Turn
  readonly isLast: boolean
  /** An answer is being written; the others stay unchanged. */
  readonly running: boolean
}

/** A question, and below it what each model answered, side by side. */
export function TurnView({ turn, isLast, running, onRetry, onEdit, onRemove, onRemoveAnswer, onStop, isOwn }: TurnViewProps) {
  const say = useText(texts)
  return (
    <li className={styles.turn}>
      <div className={styles.question}>
        <VisuallyHidden>{say('you')}</VisuallyHidden>
        <Asked question={turn.question} pictures={turn.pictures} />
        <div className={styles.actions}>
          {turn.question !== '' && <CopyButton text={turn.question} label={say('copy')} />}
          {!running && (
            <>
              <MessageAction label={say('edit')} icon={IconPencil} onClick={() => onEdit(turn)} />
              <MessageAction label={say('remove')} icon={IconTrash} onClick={() => onRemove(turn)} />
            </>
          )}
        </div>
      </div>
      <div className={styles.answers} data-several={turn.answers.length > 1}>
        {turn.answers.map((answer) => (
          <AnswerView
            key={answer.id}
            answer={answer}
            onRetry={isLast && !running ? () => onRetry(answer) : undefined}
            onRemove={running ? undefined : () => onRemoveAnswer(answer)}
            // A single answer is stopped by the button of the composer.
            onStop={turn.answers.length > 1 && isOwn(answer) ? () => onStop(answer) : undefined}
            isElsewhere={isRunning(answer) && !isOwn(answer)}
          />
        ))}
      </div>
    </li>
  )
}

const Asked = memo(function Asked({ question, pictures }: Pick<Turn, 'question' | 'pictures'>) {
  const say = useText(texts)
  return (
    <div className={styles.bubble}>
      {pictures.length > 0 && (
        <div className={styles.pictures}>
          {pictures.map((picture, place) => (
            <PictureThumb key={picture} src={picture} alt={say('pictureNumber', { number: place + 1 })} />
          ))}
        </div>
      )}
      {question}
    </div>
  )
})
