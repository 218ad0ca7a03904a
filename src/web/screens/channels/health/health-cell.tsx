import { Tooltip } from '@mantine/core'
import { IconTargetOff } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ChannelHealth } from '../../../../contract/entities/call-statistics.ts'
import { formatCount, formatDuration } from '../../../lib/format.ts'
import { useText } from '../../../lib/i18n.ts'
import { formatTime } from '../../../lib/times.ts'
import { HintTag } from '../../../ui/view/status-tag.tsx'
import styles from './health.module.css'
import { texts } from './texts.ts'

/** Success and speed of 24 hours with the last error, the breaker unless it is closed, failed quality checks, and a strip of 24 hours. */
export function HealthCell({ health }: { health: ChannelHealth | undefined }) {
  const say = useText(texts)
  if (!health) return null
  if (health.hours.every(({ answered, failed }) => answered + failed === 0)) {
    return (
      <span className={styles.figures}>
        <span className={styles.quiet}>{say('noCallsToday')}</span>
        <Departures health={health} />
      </span>
    )
  }
  return (
    <div className={styles.figures}>
      <Strip hours={health.hours} />
      <Success health={health} />
      <Breaker health={health} />
      <OtherModels health={health} />
      <Departures health={health} />
    </div>
  )
}

function Success({ health: { attempts, success, p95_ms: p95, last_error: error } }: { health: ChannelHealth }) {
  const say = useText(texts)
  const share = success === null ? '–' : percent(success)
  const hint = (
    <>
      <div>{attempts === 0 ? say('noCalls') : say('share', { attempts: formatCount(attempts), share })}</div>
      {p95 !== null && <div>{say('slow', { p95: formatDuration(p95) })}</div>}
      <div>
        {error ? say('lastError', { time: formatTime(error.last_at), code: error.code, message: error.message }) : say('noError')}
      </div>
    </>
  )
  const color = success === null ? 'gray' : success < 0.9 ? 'red' : success < 0.99 ? 'orange' : 'green'
  return (
    <>
      <HintTag hint={hint} color={color}>
        {share}
      </HintTag>
      {p95 !== null && <span className={styles.quiet}>{formatDuration(p95)}</span>}
    </>
  )
}

function Breaker({ health: { breaker, last_error: error } }: { health: ChannelHealth }) {
  const say = useText(texts)
  const { state, keys, keys_open: open, failures, retry_ms: retryMs } = breaker
  if (state === 'closed' && open === 0) return null
  const hint = (
    <>
      <div>{say('reason', { failures })}</div>
      {error && <div>{say('lastError', { time: formatTime(error.last_at), code: error.code, message: error.message })}</div>}
      <div>{retryMs > 0 ? say('retry', { seconds: Math.ceil(retryMs / 1000) }) : say('trying')}</div>
      <div>{say('ofNode')}</div>
    </>
  )
  const text = state === 'open' ? say('open') : open > 0 ? say('partlyOpen', { open, keys }) : say('halfOpen')
  return (
    <HintTag hint={hint} color={state === 'open' ? 'red' : 'orange'}>
      {text}
    </HintTag>
  )
}

const otherModelsShown = 5

/** The replies that named another model than was sent. */
function OtherModels({ health: { other_models: others } }: { health: ChannelHealth }) {
  const say = useText(texts)
  if (others.length === 0) return null
  const count = others.reduce((sum, { calls }) => sum + calls, 0)
  const lines = others
    .slice(0, otherModelsShown)
    .map(({ sent, answered, calls }) => say('answeredBy', { sent, answered, calls: formatCount(calls) }))
  const hint = [say('otherModelsHint'), ...lines].map((line) => <div key={line}>{line}</div>)
  return (
    <HintTag hint={hint} color="orange">
      {say('otherModels', { count: formatCount(count) })}
    </HintTag>
  )
}

const departuresShown = 5

/** Marks the quality checks in which the channel departs; links to the check, or to the list of checks if there are several. */
function Departures({ health: { departures } }: { health: ChannelHealth }) {
  const say = useText(texts)
  const [first] = departures
  if (!first) return null
  const lines = departures
    .slice(0, departuresShown)
    .map(({ check_name, model, state }) => say(state, { check: check_name, model }))
  const more = departures.length - lines.length
  if (more > 0) lines.push(say('moreDepartures', { count: more }))
  const hint = lines.map((line) => <div key={line}>{line}</div>)
  const mark = { className: styles.departures, 'aria-label': lines.join('; ') }
  const icon = <IconTargetOff size={15} stroke={1.8} aria-hidden="true" />
  return (
    <Tooltip label={hint} multiline maw={360}>
      {departures.every(({ check_id }) => check_id === first.check_id) ? (
        <Link to="/quality/$id" params={{ id: String(first.check_id) }} {...mark}>
          {icon}
        </Link>
      ) : (
        <Link to="/quality" {...mark}>
          {icon}
        </Link>
      )}
    </Tooltip>
  )
}

/** The code and the time of the last error, with its message as a tooltip. */
export function LastError({ health }: { health: ChannelHealth | undefined }) {
  const error = health?.last_error
  if (!error) return null
  return (
    <span className={styles.error}>
      <HintTag hint={error.message} color="red">
        {error.code}
      </HintTag>
      <time className={styles.quiet} title={formatTime(error.last_at)} dateTime={new Date(error.last_at * 1000).toISOString()}>
        {shortTime(error.last_at)}
      </time>
    </span>
  )
}

/** The time of a day, and the day if it is not today. */
function shortTime(seconds: number): string {
  const [day = '', time = ''] = formatTime(seconds).split(' ')
  return day === formatTime(Date.now() / 1000).slice(0, 10) ? time.slice(0, 5) : `${day.slice(5)} ${time.slice(0, 5)}`
}

/** One bar for each hour: its height is the traffic, its colour the failures. */
function Strip({ hours }: { hours: ChannelHealth['hours'] }) {
  const say = useText(texts)
  const counts = hours.map(({ answered, failed }) => answered + failed)
  const most = Math.max(1, ...counts)
  const count = counts.reduce((sum, each) => sum + each, 0)
  const failed = hours.reduce((sum, hour) => sum + hour.failed, 0)
  const label = say('strip', { failed: formatCount(failed), count: formatCount(count) })
  return (
    <Tooltip label={label}>
      <span className={styles.strip} role="img" aria-label={label}>
        {hours.map((hour, index) => {
          const all = hour.answered + hour.failed
          const mood = all === 0 ? 'none' : hour.failed / all >= 0.1 ? 'bad' : hour.failed / all > 0.01 ? 'poor' : 'good'
          // The hours have no other names, and their number is fixed.
          // biome-ignore lint/suspicious/noArrayIndexKey: places of a strip of fixed length
          return <span key={index} data-mood={mood} style={{ height: `${all === 0 ? 2 : 4 + (all / most) * 10}px` }} />
        })}
      </span>
    </Tooltip>
  )
}

function percent(share: number): string {
  return `${(Math.floor(share * 1000) / 10).toFixed(share === 1 ? 0 : 1)}%`
}
