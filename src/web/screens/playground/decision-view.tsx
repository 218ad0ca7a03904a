import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { Notice } from '../../ui/page/notice.tsx'
import shared from '../../ui/shared.module.css'
import { Initial } from '../../ui/view/initial.tsx'
import type { DecidedAnswer, Decision, QuestionDraft } from './decisions.ts'
import styles from './playground.module.css'
import { Price } from './price.tsx'
import { texts } from './texts.ts'

interface DecisionViewProps {
  readonly model: string
  /** Undefined while the model decides. */
  readonly decision: Decision | undefined
  readonly questions: readonly QuestionDraft[]
}

/** What one model has decided, with the members of each answer, the tokens and the price. */
export function DecisionView({ model, decision, questions }: DecisionViewProps) {
  const say = useText(texts)
  return (
    <article className={styles.decision} aria-label={model} aria-busy={!decision}>
      <header className={styles.author}>
        <Initial name={model || '?'} size={24} />
        <span className={styles.authorName}>{model}</span>
      </header>
      {!decision && (
        <p className={styles.waiting} role="status">
          {say('waiting')}
        </p>
      )}
      {decision?.state === 'error' && (
        <Notice kind="danger" title={say('failed')}>
          <span lang="">{decision.message}</span>
        </Notice>
      )}
      {decision?.state === 'complete' && (
        <>
          {questions.map(({ id, instructions }, place) => {
            const answer = decision.answers[place]
            return answer && <AnswerOf key={id} question={instructions} answer={answer} />
          })}
          {decision.isTranslated && <p className={shared.hint}>{say('decisionTranslated')}</p>}
          <Price requestId={decision.requestId}>
            {decision.inputTokens !== undefined && (
              <span>{say('decisionTokens', { count: formatCount(decision.inputTokens) })}</span>
            )}
          </Price>
        </>
      )}
    </article>
  )
}

function AnswerOf({ question, answer }: { question: string; answer: DecidedAnswer }) {
  const say = useText(texts)
  const { type, probability, choice, score, confidence, options } = answer
  const facts = [
    type === 'refusal' && say('declined'),
    choice !== undefined && say('chosen', { choice }),
    score !== undefined && say('scored', { score: Math.round(score * 100) / 100 }),
    confidence !== undefined && say('confidence', { share: percent(confidence) }),
  ].filter((fact) => typeof fact === 'string')
  const rows = probability === undefined ? options : [{ name: say('isTrue'), probability }]
  return (
    <section className={styles.decided}>
      <h3>{question}</h3>
      {facts.length > 0 && <p className={styles.facts}>{facts.join(' · ')}</p>}
      {rows.length > 0 && (
        <dl className={styles.shares}>
          {rows.map(({ name, probability }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <span className={styles.share} style={{ width: percent(probability) }} />
                {percent(probability)}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  )
}

const percent = (share: number) => `${Math.round(share * 1000) / 10}%`
