import { Link } from '@tanstack/react-router'
import { formatDuration } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { Tag } from '../../ui/tag.tsx'
import { detailsTexts } from './details-texts.ts'
import { failedAttempts, type LogRow, triedChannels } from './factors.ts'
import styles from './log.module.css'

interface Try {
  readonly channel: string
  /** Id of the channel's key. */
  readonly keyId?: number | undefined
  readonly choice?: string | undefined
  /** Absent for the attempt that succeeded. */
  readonly failure?: { readonly status: number; readonly reason: string; readonly ms: number }
}

/**
 * The attempts of a request over channels and keys: the reason of each choice and of each failure, up to the one that succeeded, if any did. Only
 * admins receive them.
 */
export function Attempts({ row: { factors, failure } }: { row: LogRow }) {
  const say = useText(detailsTexts)
  const failed = failedAttempts(factors)
  const answered = triedChannels(factors).at(-1)
  const { choice, key } = factors.admin_info ?? {}
  if (answered === undefined || (failed.length === 0 && choice === undefined)) return null

  // If earlier attempts have a reason but the last one has none, it was the only channel left.
  const lastChoice = choice ?? (failed.some((attempt) => attempt.choice !== undefined) ? 'only' : undefined)
  const tries: Try[] = [
    ...failed.map(({ channel, key, status, reason, ms, choice }) => ({
      channel: String(channel),
      keyId: key,
      choice,
      failure: { status, reason, ms },
    })),
    ...(failure ? [] : [{ channel: answered, keyId: key, choice: lastChoice }]),
  ]
  return (
    <section>
      <h2 className={styles.heading}>{say(failed.length > 0 ? 'attempts' : 'choice')}</h2>
      <ol className={styles.attempts}>
        {tries.map((attempt, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a chain never changes and its place names a try
          <TryLine key={index} {...attempt} />
        ))}
      </ol>
    </section>
  )
}

function TryLine({ channel, keyId, choice, failure }: Try) {
  const say = useText(detailsTexts)
  return (
    <li className={styles.attempt}>
      <span className={styles.attemptHead}>
        <Link to="/channel/edit/$id" params={{ id: channel }} className={styles.attemptChannel}>
          {say('attemptChannel', { channel })}
        </Link>
        {keyId !== undefined && <span className={styles.quiet}>{say('attemptKey', { key: keyId })}</span>}
        {failure ? (
          <>
            <Tag color="red">{failure.status > 0 ? failure.status : say('attemptNone')}</Tag>
            <span className={styles.quiet}>{formatDuration(failure.ms)}</span>
          </>
        ) : (
          <Tag color="green">{say('answered')}</Tag>
        )}
      </span>
      {failure && <span>{failure.reason}</span>}
      {choice !== undefined && <span className={styles.quiet}>{say('chosen', { choice: choiceText(say, choice) })}</span>}
    </li>
  )
}

const choices = ['pinned', 'only', 'session', 'last-resort', 'weighted', 'least-busy', 'lowest-latency', 'cheapest'] as const

/** A later version may know other reasons. */
function choiceText(say: ReturnType<typeof useText<keyof typeof detailsTexts.zh>>, choice: string): string {
  const known = choices.find((name) => name === choice)
  return known ? say(`chosen_${known}`) : choice
}
