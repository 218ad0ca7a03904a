import { useElementSize } from '@mantine/hooks'
import { type KeyboardEvent, memo, type PointerEvent, useMemo, useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import { Dot } from './dot.tsx'
import { barPath, columnAt, layoutOf, linePath, lowMax, nearestColumn, type Plot, placeOf } from './layout.ts'
import { colorOf, type Series, type Step, sumOf } from './steps.ts'
import styles from './time-bars.module.css'

/** An event at a moment of the time that is drawn. */
export interface Mark {
  readonly id: string
  readonly at: number
  readonly color: string
  readonly label: string
}

interface TimeBarsProps {
  readonly label: string
  readonly height: number
  readonly series: readonly Series[]
  readonly steps: readonly Step[]
  readonly nameOf: (key: string) => string
  readonly format: (value: number) => string
  readonly formatTick: (value: number) => string
  /** The number of values in one unit of the axis, such as quota units per dollar. */
  readonly scale?: number
  /** The sums of the same number of steps before, drawn as a line; `undefined` while they load. */
  readonly before?: readonly number[] | undefined
  readonly beforeLabel?: string
  readonly marks?: readonly Mark[]
  /** Chooses some steps: with a click, by dragging, or with the arrow keys and Enter. */
  readonly onSelect?: ((first: Step, last: Step) => void) | undefined
  /** Entries behind the series. */
  readonly legend?: readonly { readonly label: string; readonly color: string }[]
}

/** The step that is pointed at, and the one at which a selection of several began. */
interface Place {
  readonly at: number
  readonly anchor?: number | undefined
}

const none: readonly never[] = []

/**
 * Stacked bars: one path for each series, however many bars it has, so that a year is drawn as fast as a day. A click in the legend shows
 * one series alone.
 */
export function TimeBars(props: TimeBarsProps) {
  const { label, height, series, steps, nameOf, format, formatTick, scale = 1, before, beforeLabel = '', marks = none } = props
  const { onSelect, legend = none } = props
  const { ref, width } = useElementSize()
  const [alone, setAlone] = useState<string>()
  const [place, setPlace] = useState<Place>()
  const shown = useMemo(
    () => (series.some(({ key }) => key === alone) ? series.filter(({ key }) => key === alone) : series),
    [series, alone],
  )
  const line = shown === series ? before : undefined
  const plot = useMemo(
    () => layoutOf({ width, height, steps, series: shown, line, scale, formatTick }),
    [width, height, steps, shown, line, scale, formatTick],
  )
  const select = useSelect({ plot, steps, place, setPlace, onSelect })
  const step = place && steps[place.at]
  const marked = marks.map((mark) => ({ ...mark, x: placeOf(plot, steps, mark.at) }))
  const marksOf = (index: number) => marked.filter(({ x }) => columnAt(plot, x) === index)

  return (
    <div data-low={height < lowMax}>
      {/* A slider over the steps where they can be chosen. */}
      <div
        ref={ref}
        className={styles.plot}
        style={{ height }}
        {...(onSelect && {
          ...{ role: 'slider', tabIndex: 0, 'aria-label': label, onKeyDown: select.onKeyDown, onBlur: () => setPlace(undefined) },
          ...{ 'aria-valuemin': 0, 'aria-valuemax': Math.max(0, steps.length - 1), 'aria-valuenow': place?.at ?? 0 },
          'aria-valuetext': select.textOf((at) => [
            ...shown.map(({ key }) => `${nameOf(key)} ${format(at.values.get(key) ?? 0)}`),
            ...marksOf(steps.indexOf(at)).map((mark) => mark.label),
          ]),
          'data-selects': true,
        })}
      >
        <svg role="img" aria-label={label} width={plot.width} height={plot.height} {...select.pointer}>
          <Marks plot={plot} />
          {marked.map(({ id, x, color }) => (
            <g key={id} stroke={colorOf(color)} fill={colorOf(color)}>
              <line x1={x} x2={x} y1={plot.top} y2={plot.top + plot.inner} className={styles.mark} />
              <circle cx={x} cy={plot.top} r={4} />
            </g>
          ))}
          {place && step && <Column plot={plot} place={place} />}
        </svg>
        {place && step && (
          <Tip
            step={step}
            until={place.anchor === undefined ? undefined : steps[place.anchor]}
            series={shown}
            marks={marksOf(place.at)}
            before={line?.[place.at]}
            beforeLabel={beforeLabel}
            nameOf={nameOf}
            format={format}
            place={{ x: plot.left + (place.at + 0.5) * plot.band, width: plot.width }}
          />
        )}
      </div>
      <ul className={styles.legend}>
        {series.map(({ id, key, color }) => (
          <li key={id}>
            <button
              type="button"
              className={styles.entry}
              aria-pressed={alone === key}
              data-muted={shown !== series && alone !== key}
              onClick={() => setAlone(alone === key ? undefined : key)}
            >
              <Dot color={color} />
              {nameOf(key)}
            </button>
          </li>
        ))}
        {line && (
          <li className={styles.entry}>
            <span className={styles.dash} />
            {beforeLabel}
          </li>
        )}
        {legend.map((entry) => (
          <li key={entry.label} className={styles.entry}>
            <span className={styles.pin} style={{ background: colorOf(entry.color) }} />
            {entry.label}
          </li>
        ))}
      </ul>
    </div>
  )
}

interface SelectParts extends Pick<TimeBarsProps, 'steps' | 'onSelect'> {
  readonly plot: Plot
  readonly place: Place | undefined
  readonly setPlace: (place: Place | undefined) => void
}

/** The pointer and the keys: both move over the steps, and choose those from the anchor to the place. */
function useSelect({ plot, steps, place, setPlace, onSelect }: SelectParts) {
  const say = useText(texts)
  const xOf = (event: PointerEvent<SVGSVGElement>) => event.clientX - event.currentTarget.getBoundingClientRect().left

  function choose({ at, anchor = at }: Place): void {
    const [first, last] = [steps[Math.min(at, anchor)], steps[Math.max(at, anchor)]]
    if (first && last) onSelect?.(first, last)
    setPlace(undefined)
  }

  function follow(event: PointerEvent<SVGSVGElement>): void {
    const x = xOf(event)
    if (place?.anchor !== undefined) setPlace({ at: nearestColumn(plot, x), anchor: place.anchor })
    else setPlace(placeAt(columnAt(plot, x)))
  }

  function press(event: PointerEvent<SVGSVGElement>): void {
    const at = columnAt(plot, xOf(event))
    if (at === undefined || event.button !== 0) return
    event.currentTarget.setPointerCapture(event.pointerId)
    setPlace({ at, anchor: at })
  }

  function onKeyDown(event: KeyboardEvent): void {
    const last = steps.length - 1
    const at = place?.at ?? last
    const moves: Readonly<Record<string, number>> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }
    const to = moves[event.key]
    if (to !== undefined) {
      const next = place ? Math.min(last, Math.max(0, to)) : at
      setPlace({ at: next, anchor: event.shiftKey ? (place?.anchor ?? at) : undefined })
    } else if (event.key === 'Escape' && place) setPlace(undefined)
    else if ((event.key === 'Enter' || event.key === ' ') && place) choose(place)
    else return
    event.preventDefault()
  }

  const textOf = (figures: (step: Step) => readonly string[]): string => {
    const step = place && steps[place.at]
    return step ? [nameOfSpan(step, steps[place.anchor ?? place.at]), ...figures(step)].join(', ') : say('chartKeys')
  }
  const pointer = {
    onPointerMove: follow,
    onPointerLeave: () => setPlace(undefined),
    ...(onSelect && {
      onPointerDown: press,
      onPointerUp: () => place?.anchor !== undefined && choose(place),
      onPointerCancel: () => setPlace(undefined),
    }),
  }
  return { pointer, onKeyDown, textOf }
}

const placeAt = (at: number | undefined): Place | undefined => (at === undefined ? undefined : { at })

/** Both ends of what is chosen, the earlier first. */
function nameOfSpan(step: Step, other: Step = step): string {
  const [first, last] = step.at < other.at ? [step, other] : [other, step]
  return first === last ? nameOfStep(step) : `${nameOfStep(first)} … ${nameOfStep(last)}`
}

const nameOfStep = ({ title, label }: Step): string => title ?? label

function Column({ plot, place: { at, anchor = at } }: { plot: Plot; place: Place }) {
  const first = Math.min(at, anchor)
  const count = Math.abs(at - anchor) + 1
  return (
    <rect
      x={plot.left + first * plot.band}
      y={plot.top}
      width={plot.band * count}
      height={plot.inner}
      className={styles.column}
    />
  )
}

/** Everything that stays while the pointer moves. */
const Marks = memo(({ plot }: { plot: Plot }) => (
  <>
    {plot.ticks.map(({ y, text }) => (
      <g key={y}>
        <line x1={plot.left} x2={plot.width} y1={y} y2={y} className={styles.grid} />
        <text x={plot.left - 8} y={y} className={styles.tick} textAnchor="end" dominantBaseline="middle">
          {text}
        </text>
      </g>
    ))}
    {plot.times.map(({ x, text }) => (
      <text key={x} x={x} y={plot.height - 6} className={styles.tick} textAnchor="middle">
        {text}
      </text>
    ))}
    {plot.columns.map(({ id, color, bars }) => (
      <path key={id} d={barPath(bars)} fill={colorOf(color)} />
    ))}
    {plot.line && <path d={linePath(plot.line)} className={styles.before} />}
  </>
))

interface TipProps extends Pick<TimeBarsProps, 'series' | 'nameOf' | 'format'> {
  readonly step: Step
  /** The other end of a selection. */
  readonly until: Step | undefined
  readonly marks: readonly Mark[]
  readonly before: number | undefined
  readonly beforeLabel: string
  readonly place: { readonly x: number; readonly width: number }
}

/** The largest values first, with the sum on top; zeros are left out. It stands on the side that has more room. */
function Tip({ step, until, series, marks, before, beforeLabel, nameOf, format, place: { x, width } }: TipProps) {
  const rows = series
    .map((each) => ({ ...each, value: step.values.get(each.key) ?? 0 }))
    .filter(({ value }) => value !== 0)
    .sort((one, other) => other.value - one.value)
  const side = x < width / 2 ? { left: x + 12 } : { right: width - x + 12 }
  const several = until !== undefined && until !== step
  return (
    <div className={styles.tip} style={side}>
      <div className={styles.tipHead}>
        <span>{nameOfSpan(step, until)}</span>
        {!several && <strong>{format(sumOf(step, series))}</strong>}
      </div>
      {!several &&
        rows.map(({ id, key, color, value }) => (
          <div key={id} className={styles.tipRow}>
            <Dot color={color} />
            <span className={styles.tipName}>{nameOf(key)}</span>
            <span>{format(value)}</span>
          </div>
        ))}
      {!several && before !== undefined && (
        <div className={styles.tipRow}>
          <span className={styles.dash} />
          <span className={styles.tipName}>{beforeLabel}</span>
          <span>{format(before)}</span>
        </div>
      )}
      {marks.map(({ id, color, label }) => (
        <div key={id} className={styles.tipRow}>
          <span className={styles.pin} style={{ background: colorOf(color) }} />
          <span className={styles.tipName}>{label}</span>
        </div>
      ))}
    </div>
  )
}
