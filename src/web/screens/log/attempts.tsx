import { choices } from '../../../contract/entities/channel-choice.ts'
import { failedAttempts, triedChannels } from '../../../contract/log-factors.ts'
import { formatDuration } from '../../lib/format.ts'
import { type Say, useText } from '../../lib/i18n.ts'
import shared from '../../ui/shared.module.css'
import { Tag } from '../../ui/view/tag.tsx'
import { CandidateList, ChannelLink, type Try } from './candidate-list.tsx'
import { detailsTexts } from './details-texts.ts'
import type { ChannelNames, LogRow } from './factors.ts'
import styles from './log.module.css'

/**
 * The attempts of a request over channels and keys: among which candidates and why each was chosen, and why it failed, up to the one that
 * succeeded, if any did. Only admins receive them.
 */
export function Attempts({ row }: { row: LogRow }) {
  const say = useText(detailsTexts)
  const tries = triesOf(row)
  if (tries.every(({ failure, choice, candidates }) => !failure && choice === undefined && !candidates)) return null
  return (
    <section>
      <h2 className={styles.heading}>{say(tries.length > 1 ? 'attempts' : 'choice')}</h2>
      <ol className={styles.attempts}>
        {tries.map((attempt, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a chain never changes and its place names a try
          <TryItem key={at} attempt={attempt} earlier={tries.slice(0, at)} names={row.channelNames} />
        ))}
      </ol>
    </section>
  )
}

function triesOf({ factors, failure }: LogRow): Try[] {
  const { choice, key, candidates } = factors.admin_info ?? {}
  const failed = failedAttempts(factors).map(({ channel, key, status, reason, ms, choice, candidates }) => ({
    ...{ channel, keyId: key, choice, candidates },
    failure: { status, reason, ms },
  }))
  if (failure) return candidates ? [...failed, { candidates }] : failed
  const answered = triedChannels(factors).at(-1)
  if (answered === undefined) return failed
  // A choice without a reason was made when only one channel was left.
  const isOnly = candidates !== undefined || failed.some((attempt) => attempt.choice !== undefined)
  return [...failed, { channel: Number(answered), keyId: key, choice: choice ?? (isOnly ? 'only' : undefined), candidates }]
}

interface TryProps {
  readonly attempt: Try
  readonly earlier: readonly Try[]
  readonly names: ChannelNames
}

function TryItem({ attempt, earlier, names }: TryProps) {
  const say = useText(detailsTexts)
  const { channel, keyId, choice, failure } = attempt
  return (
    <li className={styles.attempt}>
      <span className={styles.attemptHead}>
        {channel === undefined ? say('noChannel') : <ChannelLink id={channel} names={names} />}
        {keyId !== undefined && <span className={shared.note}>{say('attemptKey', { key: keyId })}</span>}
        {failure && (
          <>
            <Tag color="red">{failure.status > 0 ? failure.status : say('attemptNone')}</Tag>
            <span className={shared.note}>{formatDuration(failure.ms)}</span>
          </>
        )}
        {channel !== undefined && !failure && <Tag color="green">{say('answered')}</Tag>}
      </span>
      {failure && <span>{failure.reason}</span>}
      {choice !== undefined && <span className={shared.note}>{say('chosen', { choice: choiceText(say, choice) })}</span>}
      <CandidateList attempt={attempt} earlier={earlier} names={names} />
    </li>
  )
}

/** A later version may know other reasons. */
function choiceText(say: Say<keyof typeof detailsTexts>, choice: string): string {
  const known = choices.find((name) => name === choice)
  return known ? say(`chosen_${known}`) : choice
}
