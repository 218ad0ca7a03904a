import { useState } from 'react'
import { type StatusModel, shareLevels } from '../../../contract/entities/status-page.ts'
import { useText } from '../../lib/i18n.ts'
import shared from '../../ui/shared.module.css'
import styles from './status.module.css'
import { texts } from './texts.ts'

const daySeconds = 86_400

/** One bar for each day. A click shows the days as a table. */
export function DayStrip({ model: { name, days, share }, firstDay }: { model: StatusModel; firstDay: number }) {
  const say = useText(texts)
  const [open, setOpen] = useState(false)
  const words = (part: number | null) => (part === null ? say('shareNone') : shareText(part))
  const named = days.map((part, index) => ({ part, date: dateOf(firstDay + index * daySeconds) }))
  const known = days.filter((part) => part !== null)
  const label = say('strip', {
    model: name,
    share: words(share),
    poor: known.filter((part) => part < shareLevels.fair).length,
    none: days.length - known.length,
  })
  return (
    <div className={styles.history}>
      <button type="button" className={styles.strip} aria-label={label} aria-expanded={open} onClick={() => setOpen(!open)}>
        {named.map(({ part, date }) => (
          <span key={date} data-mood={moodOf(part)} title={say('day', { date, share: words(part) })} />
        ))}
      </button>
      {open && <Days name={name} days={named.filter(({ part }) => part !== null).toReversed()} words={words} />}
    </div>
  )
}

/** What the ends of all strips are. */
export function DayAxis() {
  const say = useText(texts)
  return (
    <div className={styles.axis} aria-hidden="true">
      <span data-wide>{say('daysAgo90')}</span>
      <span data-narrow>{say('daysAgo30')}</span>
      <span>{say('today')}</span>
    </div>
  )
}

interface DaysProps {
  readonly name: string
  /** The days with data, newest first. */
  readonly days: readonly { readonly part: number | null; readonly date: string }[]
  readonly words: (part: number | null) => string
}

function Days({ name, days, words }: DaysProps) {
  const say = useText(texts)
  if (days.length === 0) return <p className={styles.quiet}>{say('noDays')}</p>
  return (
    // It scrolls, also by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <div className={styles.table} tabIndex={0}>
      <table className={`${shared.table} ${styles.days}`} aria-label={say('days', { model: name })}>
        <thead>
          <tr>
            <th scope="col">{say('date')}</th>
            <th scope="col">{say('dayShare')}</th>
          </tr>
        </thead>
        <tbody>
          {days.map(({ date, part }) => (
            <tr key={date}>
              <th scope="row">{date}</th>
              <td data-mood={moodOf(part)}>{words(part)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function moodOf(share: number | null): 'none' | 'good' | 'fair' | 'poor' {
  if (share === null) return 'none'
  if (share < shareLevels.poor) return 'poor'
  return share < shareLevels.fair ? 'fair' : 'good'
}

/** The share is already rounded down: 100 % means no failure at all. */
export function shareText(share: number): string {
  return `${(share * 100).toFixed(share === 1 ? 0 : 2)}%`
}

function dateOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10)
}
