import { addCounter, addHistogram, Durations } from '../../base/lib/process/metrics.ts'
import type { Core } from '../../base/options/core.ts'
import type { CallObserver, EndedAttempt, EndedCall } from './ended-calls.ts'

/**
 * Calls by model and channel for `/metrics`. The counters of a call are looked up once by its model and channel, then plain numbers
 * are added; text is made when the metrics are requested. The number of series is bounded: callers choose the names of models where
 * a channel serves patterns.
 */

/** Greatest number of pairs of a model and a channel with separate series; all others are counted as `other`. */
const pairsMax = 500
/** Errors of one pair by status and code: vendors make up their codes. */
const codesMax = 20
const nameMax = 100
const other = 'other'
/** The channel of calls that ended before one was tried, and the model of those whose model is unknown. */
const none = 'none'

const durationBounds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600] as const
const firstTokenBounds = [0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 12, 30, 60] as const
const stepBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5] as const

type Labels = Readonly<Record<string, string>>

class Series {
  readonly labels: { readonly model: string; readonly channel: string }
  calls = 0
  tokensIn = 0
  tokensOut = 0
  usd = 0
  retries = 0
  readonly errors = new Map<string, { readonly labels: Labels; count: number }>()
  readonly attempts = new Map<string, number>()
  readonly duration = new Durations(durationBounds)
  readonly firstToken = new Durations(firstTokenBounds)

  constructor(model: string, channel: string) {
    this.labels = { model, channel }
  }
}

export class CallMetrics implements CallObserver {
  readonly #options: Core['options']
  readonly #byModel = new Map<string, Map<number, Series>>()
  readonly #all: Series[] = []
  readonly #other = new Series(other, other)
  readonly #hold = new Durations(stepBounds)
  readonly #commit = new Durations(stepBounds)
  readonly #queue = new Durations(stepBounds)

  constructor({ metrics, options }: Pick<Core, 'metrics' | 'options'>) {
    this.#options = options
    const labelNames = ['model', 'channel']
    const each =
      <Value>(pick: (series: Series) => Value) =>
      () =>
        this.#all.map((series): [Series['labels'], Value] => [series.labels, pick(series)])
    const count = (name: string, help: string, pick: (series: Series) => number) =>
      addCounter(metrics, { name, help, labelNames }, each(pick))
    const countBy = (
      by: readonly string[],
      name: string,
      help: string,
      pick: (series: Series) => Iterable<readonly [Labels, number]>,
    ) =>
      addCounter(metrics, { name, help, labelNames: [...labelNames, ...by] }, () =>
        this.#all.flatMap((series) =>
          Array.from(pick(series), ([more, counted]): [Labels, number] => [{ ...series.labels, ...more }, counted]),
        ),
      )

    count('sluice_calls_total', 'Ended calls of known keys, by model and last channel', ({ calls }) => calls)
    const errorsHelp = 'Calls that ended without their answer, by status and code of the error; 499 is a caller who left'
    countBy(['status', 'code'], 'sluice_call_errors_total', errorsHelp, ({ errors }) =>
      Array.from(errors.values(), ({ labels, count }) => [labels, count]),
    )
    countBy(['direction'], 'sluice_call_tokens_total', 'Tokens charged', ({ tokensIn, tokensOut }) => [
      [{ direction: 'in' }, tokensIn],
      [{ direction: 'out' }, tokensOut],
    ])
    count('sluice_call_cost_usd_total', 'Charged, in US dollars', ({ usd }) => usd)
    count('sluice_call_retries_total', 'Attempts after the first of a call, by its last channel', ({ retries }) => retries)
    const attemptsHelp = 'Attempts on channels, by status; 0 without an answer'
    countBy(['status'], 'sluice_attempts_total', attemptsHelp, ({ attempts }) =>
      Array.from(attempts, ([status, counted]) => [{ status }, counted]),
    )
    addHistogram(
      metrics,
      { name: 'sluice_call_duration_seconds', help: 'Duration of answered calls', labelNames, bounds: durationBounds },
      each(({ duration }) => duration),
    )
    const firstTokenHelp = 'Time to the first byte of streamed answers'
    addHistogram(
      metrics,
      { name: 'sluice_call_first_token_seconds', help: firstTokenHelp, labelNames, bounds: firstTokenBounds },
      each(({ firstToken }) => firstToken),
    )
    const steps = [
      ['hold', 'Time of holds', this.#hold],
      ['commit', 'Time that answers waited for their charge to be durable', this.#commit],
      ['queue', 'Time that calls waited for the limits of channels that are shared by nodes', this.#queue],
    ] as const
    for (const [step, help, durations] of steps)
      addHistogram(metrics, { name: `sluice_call_${step}_seconds`, help, labelNames: [], bounds: stepBounds }, () => [
        [{}, durations],
      ])
  }

  callEnded(call: EndedCall): void {
    const { attempts, failure, firstByteMs, holdMs, commitMs, queueMs, tokensIn, tokensOut, quota } = call
    const last = attempts.at(-1)
    // A group is only set once the model is known.
    const series = this.#seriesOf(last || call.group !== '' ? call.model : none, last?.channel.id ?? 0)
    series.calls++
    series.tokensIn += tokensIn
    series.tokensOut += tokensOut
    if (quota > 0) series.usd += quota / this.#options.current.QuotaPerUnit
    if (attempts.length > 1) series.retries += attempts.length - 1
    if (failure) countError(series, call.status, failure.code)
    else series.duration.observe(call.durationMs)
    if (firstByteMs !== undefined) series.firstToken.observe(firstByteMs)
    if (!last) return
    this.#hold.observe(holdMs)
    this.#queue.observe(queueMs)
    if (!failure) this.#commit.observe(commitMs)
  }

  attemptEnded({ channel, model, status }: EndedAttempt): void {
    const { attempts } = this.#seriesOf(model, channel.id)
    // The statuses of HTTP are few; any other status of an upstream is counted as 0, no answer.
    const counted = status >= 200 && status < 600 ? String(status) : '0'
    attempts.set(counted, (attempts.get(counted) ?? 0) + 1)
  }

  #seriesOf(model: string, channelId: number): Series {
    const known = this.#byModel.get(model)?.get(channelId)
    if (known) return known
    if (this.#all.length >= pairsMax) {
      if (this.#all.at(-1) !== this.#other) this.#all.push(this.#other)
      return this.#other
    }
    const series = new Series(model.slice(0, nameMax), channelId === 0 ? none : String(channelId))
    const ofModel = this.#byModel.get(model) ?? new Map<number, Series>()
    this.#byModel.set(model, ofModel.set(channelId, series))
    this.#all.push(series)
    return series
  }
}

function countError({ errors }: Series, status: number, code: string): void {
  const key = `${status} ${code}`
  const known = errors.get(key) ?? (errors.size < codesMax ? undefined : errors.get(other))
  if (known) known.count++
  else if (errors.size < codesMax) errors.set(key, { labels: { status: String(status), code: code.slice(0, nameMax) }, count: 1 })
  else errors.set(other, { labels: { status: other, code: other }, count: 1 })
}
