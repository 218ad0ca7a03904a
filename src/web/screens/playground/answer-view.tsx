import { Button } from '@mantine/core'
import { IconPlayerStop, IconRefresh, IconTrash } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import { formatCount, formatDuration, useQuotaFormat } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { Notice } from '../../ui/page/notice.tsx'
import shared from '../../ui/shared.module.css'
import { Markdown } from '../../ui/text/markdown.tsx'
import { MarkdownImage } from '../../ui/text/markdown-image.tsx'
import { CopyButton } from '../../ui/view/copy-text.tsx'
import { Initial } from '../../ui/view/initial.tsx'
import { useQuotaHint } from '../../ui/view/quota-text.tsx'
import { MessageAction } from './message-action.tsx'
import styles from './playground.module.css'
import { texts } from './texts.ts'
import { type Answer, isRunning } from './turns.ts'

interface AnswerViewProps {
  readonly answer: Answer
  /** The actions on the answer; undefined where they are impossible. */
  readonly onRetry: (() => void) | undefined
  readonly onRemove: (() => void) | undefined
  readonly onStop: (() => void) | undefined
  /** Another tab is writing it. */
  readonly isElsewhere: boolean
}

/** One model's answer, with its state and actions. */
export function AnswerView({ answer, onRetry, onRemove, onStop, isElsewhere }: AnswerViewProps) {
  const say = useText(texts)
  const running = isRunning(answer)
  const failed = answer.state === 'error'
  return (
    <article className={styles.answer} aria-label={answer.model} aria-busy={running}>
      <header className={styles.author}>
        <Initial name={answer.model || '?'} size={24} />
        <span className={styles.authorName}>{answer.model}</span>
        {isElsewhere && <span className={shared.hint}>{say('elsewhere')}</span>}
        {running && onStop && <MessageAction label={`${say('stop')}: ${answer.model}`} icon={IconPlayerStop} onClick={onStop} />}
      </header>
      <div className={styles.said}>
        <Reasoning answer={answer} />
        <Said content={answer.content} state={answer.state} hasPictures={(answer.pictures ?? []).length > 0} />
        <Pictures pictures={answer.pictures} />
        {failed && (
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
            <span lang="">{answer.error}</span>
          </Notice>
        )}
        {!running && (
          <div className={styles.actions}>
            {answer.content !== '' && <CopyButton text={answer.content} label={`${say('copy')} ${answer.model}`} />}
            {onRetry && !failed && <MessageAction label={say('retry')} icon={IconRefresh} onClick={onRetry} />}
            {onRemove && <MessageAction label={say('removeAnswer')} icon={IconTrash} onClick={onRemove} />}
            <Figures answer={answer} />
          </div>
        )}
      </div>
    </article>
  )
}

const Said = memo(function Said({ content, state, hasPictures }: Pick<Answer, 'content' | 'state'> & { hasPictures: boolean }) {
  const say = useText(texts)
  if (state === 'loading') {
    return (
      <p className={styles.waiting} role="status">
        {say('waiting')}
      </p>
    )
  }
  if (content === '') return state === 'complete' && !hasPictures ? <p className={shared.hint}>{say('emptyAnswer')}</p> : null
  return (
    <div className={styles.text} data-writing={state === 'incomplete'}>
      <Markdown text={content} streaming={state === 'incomplete'} />
    </div>
  )
})

/** The model's thinking, collapsed. */
function Reasoning({ answer: { reasoning, content, state } }: { answer: Answer }) {
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

const Pictures = memo(function Pictures({ pictures = [] }: { pictures: readonly string[] | undefined }) {
  const say = useText(texts)
  if (pictures.length === 0) return null
  return (
    <div className={styles.pictures}>
      {pictures.map((picture, place) => (
        <MarkdownImage key={picture} address={picture} alt={say('pictureNumber', { number: place + 1 })} />
      ))}
    </div>
  )
})

/** Tokens, time and money of the answer, and where the log has it. */
function Figures({ answer: { state, usage, firstMs, durationMs, requestId, cost } }: { answer: Answer }) {
  const say = useText(texts)
  const formatQuota = useQuotaFormat()
  const amountOf = useQuotaHint()
  const figures = [
    state === 'stopped' && say('stopped'),
    usage && say('usage', { prompt: formatCount(usage.prompt_tokens), completion: formatCount(usage.completion_tokens) }),
    firstMs !== undefined && state !== 'error' && say('firstWord', { time: formatDuration(firstMs) }),
    durationMs !== undefined && state !== 'error' && formatDuration(durationMs),
  ].filter((figure) => typeof figure === 'string')
  return (
    <span className={styles.figures}>
      {figures.map((figure) => (
        <span key={figure}>{figure}</span>
      ))}
      {cost !== undefined && <span title={amountOf(cost)}>{say('cost', { amount: formatQuota(cost) })}</span>}
      {requestId && (
        <Link to="/log" search={{ from: 0, request_id: requestId }} className={styles.link}>
          {say('inLog')}
        </Link>
      )}
    </span>
  )
}
