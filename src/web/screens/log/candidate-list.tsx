import { VisuallyHidden } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { type Candidate, exclusions, weightBase } from '../../../contract/entities/channel-choice.ts'
import type { LogAttempt } from '../../../contract/entities/log.ts'
import { listedCandidates } from '../../../contract/log-factors.ts'
import { formatCount, formatDuration } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { useNarrow } from '../../lib/narrow.ts'
import shared from '../../ui/shared.module.css'
import { Tag } from '../../ui/view/tag.tsx'
import { detailsTexts } from './details-texts.ts'
import type { ChannelNames } from './factors.ts'
import styles from './log.module.css'
import { usdText } from './prices.ts'

/** An attempt, or the choice that found no channel for one. */
export interface Try extends Pick<LogAttempt, 'choice' | 'candidates'> {
  /** Absent when no channel was found. */
  readonly channel?: number
  /** Id of the channel's key. */
  readonly keyId?: number | undefined
  /** Absent for the attempt that succeeded. */
  readonly failure?: { readonly status: number; readonly reason: string; readonly ms: number }
}

interface CandidateListProps {
  readonly attempt: Try
  /** The attempts before it, which have failed. */
  readonly earlier: readonly Try[]
  readonly names: ChannelNames
}

interface Figure {
  readonly label: string
  /** '' where nothing was compared. */
  readonly value: string
}

/**
 * The candidates of a choice, with what it compared, and why the others were not chosen. Shows nothing if there was only one
 * channel.
 */
export function CandidateList({ attempt, earlier, names }: CandidateListProps) {
  const say = useText(detailsTexts)
  const isNarrow = useNarrow()
  const figuresOf = useFigures(attempt)
  const candidates = listedCandidates(attempt)
  if (candidates.length === 0) return null

  const rest = attempt.candidates?.more ?? 0
  const more = rest > 0 && <p className={shared.note}>{say('moreCandidates', { count: rest })}</p>
  const outcomeOf = (candidate: Candidate) => <Outcome candidate={candidate} attempt={attempt} earlier={earlier} />
  if (isNarrow)
    return (
      <>
        <ul className={styles.candidateCards} aria-label={say('candidates')}>
          {candidates.map((candidate) => (
            <li key={candidate.channel} className={styles.candidateCard}>
              <ChannelLink id={candidate.channel} names={names} />
              <span className={shared.note}>
                {figuresOf(candidate)
                  .filter(({ value }) => value !== '')
                  .map(({ label, value }) => `${label} ${value}`)
                  .join(' · ')}
              </span>
              {outcomeOf(candidate)}
            </li>
          ))}
        </ul>
        {more}
      </>
    )
  const labels = candidates.slice(0, 1).flatMap(figuresOf)
  return (
    <>
      <table className={`${shared.table} ${styles.bill} ${styles.candidates}`}>
        <caption>
          <VisuallyHidden>{say('candidates')}</VisuallyHidden>
        </caption>
        <thead>
          <tr>
            <th scope="col">{say('candidate')}</th>
            {labels.map(({ label }) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
            <th scope="col">{say('outcome')}</th>
          </tr>
        </thead>
        <tbody>
          {candidates.map((candidate) => (
            <tr key={candidate.channel}>
              <th scope="row">
                <ChannelLink id={candidate.channel} names={names} />
              </th>
              {figuresOf(candidate).map(({ label, value }) => (
                <td key={label}>{value || '–'}</td>
              ))}
              <td>{outcomeOf(candidate)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </>
  )
}

/** The same figures for each candidate: priority, weight with its probability, and the score if the strategy compared scores. */
function useFigures(attempt: Try): (candidate: Candidate) => Figure[] {
  const say = useText(detailsTexts)
  const candidates = listedCandidates(attempt)
  const drawn = candidates.filter(({ excluded }) => excluded === undefined)
  const isDrawn = attempt.choice === 'weighted' && drawn.length > 1 && !attempt.candidates?.more
  const total = drawn.reduce((sum, { weight = 0 }) => sum + weight + weightBase, 0)
  const weightText = ({ weight = 0, excluded }: Candidate) =>
    isDrawn && excluded === undefined
      ? say('weightShare', { weight: formatCount(weight), share: Math.round((100 * (weight + weightBase)) / total) })
      : formatCount(weight)
  const compared = scores.find(({ choice }) => choice === attempt.choice)
  const scoreText = ({ score, excluded }: Candidate, { format, unknown }: (typeof scores)[number]) =>
    score === undefined ? (excluded === undefined ? say(unknown) : '') : format(score)
  return (candidate) => [
    { label: say('priority'), value: formatCount(candidate.priority ?? 0) },
    { label: say('weight'), value: weightText(candidate) },
    ...(compared ? [{ label: say(`score_${compared.choice}`), value: scoreText(candidate, compared) }] : []),
  ]
}

const scores = [
  { choice: 'least-busy', format: formatCount, unknown: 'notMeasured' },
  { choice: 'lowest-latency', format: formatDuration, unknown: 'notMeasured' },
  { choice: 'cheapest', format: usdText, unknown: 'noPrice' },
] as const

function Outcome({ candidate, attempt, earlier }: { candidate: Candidate } & Pick<CandidateListProps, 'attempt' | 'earlier'>) {
  const say = useText(detailsTexts)
  const { channel, excluded } = candidate
  const statusText = ({ failure }: Try) => (failure && failure.status > 0 ? failure.status : say('attemptNone'))
  // A later version may know other reasons.
  const known = exclusions.find((name) => name === excluded)
  const failed = excluded === 'failed' && earlier.findLast((each) => each.channel === channel)
  const reason = failed ? say('failedBefore', { status: statusText(failed) }) : known ? say(`excluded_${known}`) : excluded
  if (channel !== attempt.channel) return <span className={shared.note}>{reason ?? say('notChosen')}</span>
  return (
    <span className={styles.outcome}>
      <Tag color={attempt.failure ? 'red' : 'green'}>
        {attempt.failure ? say('selectedFailed', { status: statusText(attempt) }) : say('selected')}
      </Tag>
      {reason !== undefined && <span className={shared.note}>{say('despite', { reason })}</span>}
    </span>
  )
}

/** Deleted channels have no name. */
export function ChannelLink({ id, names }: { id: number; names: ChannelNames }) {
  const say = useText(detailsTexts)
  const name = names[id]
  if (name === undefined) return <span>{say('attemptChannel', { channel: id })}</span>
  return (
    <span>
      <Link to="/channel/edit/$id" params={{ id: String(id) }} className={styles.attemptChannel}>
        {name}
      </Link>{' '}
      <span className={`${shared.note} ${shared.nowrap}`}>#{id}</span>
    </span>
  )
}
