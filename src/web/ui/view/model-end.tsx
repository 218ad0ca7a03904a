import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import { HintTag } from './status-tag.tsx'

/** The end of a model. A date is a day in UTC, as `2026-12-11`. */
interface ShownEnd {
  readonly date: string
  /** What the vendor recommends instead; '' for nothing. */
  readonly successor: string
}

/** Marks a model that ends, with the day. */
export function ModelEndTag({ end }: { end: ShownEnd }) {
  const say = useText(texts)
  const sentence = useEndText()(end)
  return (
    <HintTag hint={sentence} color="orange">
      {say(hasEnded(end) ? 'modelEnded' : 'modelEnds', { date: end.date })}
    </HintTag>
  )
}

/** Says when a model ends, and what its vendor recommends. */
export function useEndText(): (end: ShownEnd) => string {
  const say = useText(texts)
  return (end) => {
    const day = say(hasEnded(end) ? 'modelEndedOn' : 'modelEndsOn', { date: end.date })
    return end.successor === '' ? day : `${day} ${say('modelSuccessor', { model: end.successor })}`
  }
}

function hasEnded({ date }: ShownEnd): boolean {
  return Date.parse(`${date}T00:00:00Z`) <= Date.now()
}
