import { useText } from '../../lib/i18n.ts'
import { formatTime, timeZoneName } from '../../lib/times.ts'
import shared from '../shared.module.css'
import { texts } from '../texts.ts'

/** A moment in local time from unix seconds; 0 is none. */
export function TimeText({ seconds }: { seconds: number }) {
  const say = useText(texts)
  if (seconds <= 0) return <span className={shared.quiet}>{say('none')}</span>
  return (
    <time
      className={shared.figure}
      title={say('timeZone', { zone: timeZoneName() })}
      dateTime={new Date(seconds * 1000).toISOString()}
    >
      {formatTime(seconds)}
    </time>
  )
}
