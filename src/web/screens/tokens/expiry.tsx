import { neverExpires } from '../../../contract/entities/token.ts'
import { useConsoleLanguage, useText } from '../../lib/i18n.ts'
import { formatTime, nowSeconds } from '../../lib/times.ts'
import { HintTag } from '../../ui/view/status-tag.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import { texts } from './texts.ts'
import styles from './tokens.module.css'

const daySeconds = 86_400
const soonSeconds = 7 * daySeconds
const steps = [
  { unit: 'day', seconds: daySeconds },
  { unit: 'hour', seconds: 3600 },
  { unit: 'minute', seconds: 60 },
] as const

/** When a token expires: the time, or the time that is left if it expires soon. */
export function Expiry({ at }: { at: number }) {
  const say = useText(texts)
  const { locale } = useConsoleLanguage()
  if (at === neverExpires) return <span className={styles.quiet}>{say('never')}</span>

  const left = at - nowSeconds()
  if (left <= 0 || left > soonSeconds) return <TimeText seconds={at} />
  const step = steps.find(({ seconds }) => left >= seconds) ?? steps[2]
  return (
    <HintTag color="orange" hint={formatTime(at)}>
      {new Intl.RelativeTimeFormat(locale).format(Math.floor(left / step.seconds), step.unit)}
    </HintTag>
  )
}
