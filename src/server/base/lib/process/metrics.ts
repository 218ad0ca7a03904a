import {
  AggregatorRegistry,
  Counter,
  type CounterConfiguration,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type HistogramConfiguration,
  type Metric,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import { droppedLines } from '../log/log-output.ts'
import { descriptorLimit, openDescriptors } from './descriptors.ts'
import { memoryLimit } from './memory-watch.ts'

/** The only file that uses the metrics library. Names follow Prometheus conventions. */
export type Metrics = ReturnType<typeof newMetrics>

interface Readings {
  failedCallsWaiting: () => number
  ledgerWaiting: () => number
  unknownKeyCalls: () => ReadonlyMap<string, number>
}

export function newMetrics() {
  const registry = new Registry()
  for (const metric of processMetrics()) registry.registerMetric(metric)
  const registers = [registry]
  new Gauge({
    name: 'sluice_processes',
    help: 'Processes of this start that serve (WORKERS)',
    registers,
    collect() {
      this.set(1)
    },
  })
  new Gauge({
    name: 'sluice_memory_limit_bytes',
    help: 'Memory that the process may use, of its container or machine',
    registers,
    collect() {
      this.set(memoryLimit())
    },
  })
  addDescriptors({ registry })
  addCounter({ registry }, { name: 'sluice_log_lines_dropped_total', help: 'Log lines that nobody took', labelNames: [] }, () => [
    [{}, droppedLines()],
  ])

  /** Gauges that are read when the metrics are requested; the parts that own the values register them. */
  const readings: Readings = { failedCallsWaiting: () => 0, ledgerWaiting: () => 0, unknownKeyCalls: () => new Map() }
  new Gauge({
    name: 'sluice_failed_call_rows_waiting',
    help: 'Log rows of failed calls that are not written yet',
    registers,
    collect() {
      this.set(readings.failedCallsWaiting())
    },
  })
  new Gauge({
    name: 'sluice_ledger_waiting',
    help: 'Charges, releases and checkpoints that are not durable yet',
    registers,
    collect() {
      this.set(readings.ledgerWaiting())
    },
  })
  addCounter(
    { registry },
    {
      name: 'sluice_unknown_key_calls_total',
      help: 'Relay calls without a known key, by address; the addresses with the most',
      labelNames: ['address'],
    },
    () => Array.from(readings.unknownKeyCalls(), ([address, count]) => [{ address }, count]),
  )

  const relayDurations = new LabelledDurations([0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300])
  addHistogram(
    { registry },
    {
      name: 'sluice_relay_duration_seconds',
      help: 'Duration of relay requests',
      labelNames: ['format'],
      bounds: relayDurations.bounds,
    },
    () => relayDurations.series('format'),
  )

  return {
    registry,
    readings,
    failedCalls: new Counter({
      name: 'sluice_failed_calls_total',
      help: 'Relay calls of known keys that ended without their answer, by the status that the caller got; 499 is a caller who left',
      labelNames: ['status'],
      registers,
    }),
    failedCallRows: new Counter({
      name: 'sluice_failed_call_rows_total',
      help: 'Log rows of failed calls: written, off, sampled (beyond the limit of a second), dropped (queue full) or lost',
      labelNames: ['outcome'],
      registers,
    }),
    recordings: new Counter({
      name: 'sluice_recordings_total',
      help: 'Calls that were to be recorded: written, limited (beyond the number of a minute), dropped (no memory) or lost',
      labelNames: ['outcome'],
      registers,
    }),
    relayRequests: new Tally({
      name: 'sluice_relay_requests_total',
      help: 'Finished relay requests',
      labelNames: ['format', 'outcome'],
      registers,
    }),
    relayDurations,
    relayOpen: new Gauge({ name: 'sluice_relay_open', help: 'Relay requests in progress', registers }),
    upstreamAttempts: new Tally({
      name: 'sluice_upstream_attempts_total',
      help: 'Attempts on channels',
      labelNames: ['outcome'],
      registers,
    }),
    quotaCharged: new Counter({ name: 'sluice_quota_charged_units_total', help: 'Quota units charged', registers }),
    commits: new Counter({ name: 'sluice_ledger_commits_total', help: 'Committed ledger batches', registers }),
    commitRows: new Counter({ name: 'sluice_ledger_rows_total', help: 'Charges in committed batches', registers }),
    commitSeconds: new Histogram({
      name: 'sluice_ledger_commit_seconds',
      help: 'Duration of ledger commits',
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1],
      registers,
    }),
    jobRuns: new Counter({
      name: 'sluice_job_runs_total',
      help: 'Runs of background jobs',
      labelNames: ['job', 'outcome'],
      registers,
    }),
    lastBackup: new Gauge({
      name: 'sluice_last_backup_timestamp_seconds',
      help: 'When the last `sluice backup` ended, in unix seconds; 0 before the first',
      aggregator: 'max',
      registers,
    }),
    ledgerDiscrepancy: new Gauge({
      name: 'sluice_ledger_discrepancy_users',
      help: 'Users whose balance differs from their ledger',
      registers,
    }),
  }
}

let ofProcess: readonly Metric[] | undefined
/**
 * Three gauges that are named as if they were counters, and are the sums of others; and the number of open descriptors, which would stay at
 * an old value when there is none left to read it with.
 */
const unused = /^nodejs_active_.*_total$|^process_(?:open|max)_fds$/

/**
 * Memory, event loop and garbage collection of this process, once for all its registries: the library never stops the timer and the observer
 * that measure them.
 */
function processMetrics(): readonly Metric[] {
  if (!ofProcess) {
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
    const used = registry.getMetricsAsArray().filter(({ name }) => !unused.test(name))
    ofProcess = used.flatMap(({ name }) => registry.getSingleMetric(name) ?? [])
  }
  return ofProcess
}

function addDescriptors(metrics: Pick<Metrics, 'registry'>): void {
  const add = (name: string, help: string, merge: 'sum' | 'max', read: () => number | undefined) =>
    addGauge(metrics, { name, help, labelNames: [], merge }, () => {
      const value = read()
      return value === undefined ? [] : [[{}, value]]
    })
  add('process_open_fds', 'Number of open file descriptors.', 'sum', openDescriptors)
  add('process_max_fds', 'Maximum number of open file descriptors.', 'sum', descriptorLimit)
  add('sluice_descriptors_used_ratio', 'Open file descriptors of the limit; of the process with the most', 'max', () => {
    const [open, limit] = [openDescriptors(), descriptorLimit()]
    return open === undefined || limit === undefined ? undefined : open / limit
  })
}

/** A metric that its owner counts, read when the metrics are requested: counting is an addition, without a lookup by labels. */
interface ReadMetric {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
}

type Labels = Readonly<Record<string, string>>

export function addCounter(
  { registry }: Pick<Metrics, 'registry'>,
  metric: ReadMetric,
  read: () => Iterable<readonly [Labels, number]>,
): void {
  new Counter({
    ...metric,
    registers: [registry],
    collect() {
      this.reset()
      for (const [labels, value] of read()) this.inc(labels, value)
    },
  })
}

/** `merge` is how the values of several processes are combined: their sum, or the greatest. */
export function addGauge(
  { registry }: Pick<Metrics, 'registry'>,
  metric: ReadMetric & { readonly merge: 'sum' | 'max' },
  read: () => Iterable<readonly [Labels, number]>,
): void {
  const { merge, ...named } = metric
  new Gauge({
    ...named,
    aggregator: merge,
    registers: [registry],
    collect() {
      this.reset()
      for (const [labels, value] of read()) this.set(labels, value)
    },
  })
}

/** `bounds` are the upper bounds of the buckets in seconds, ascending, the same for all series. */
export function addHistogram(
  { registry }: Pick<Metrics, 'registry'>,
  metric: ReadMetric & { readonly bounds: readonly number[] },
  read: () => Iterable<readonly [Labels, Durations]>,
): void {
  const { bounds, ...named } = metric
  registry.registerMetric(new ReadHistogram({ ...named, buckets: [...bounds], registers: [] }, read))
}

/** Durations in buckets: one series of a histogram. */
export class Durations {
  readonly bounds: readonly number[]
  readonly counts: number[]
  count = 0
  sumMs = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = bounds.map(() => 0)
  }

  observe(ms: number): void {
    this.count++
    this.sumMs += ms
    const seconds = ms / 1000
    const { bounds, counts } = this
    for (let at = 0; at < bounds.length; at++) {
      if (seconds <= (bounds[at] ?? 0)) {
        counts[at] = (counts[at] ?? 0) + 1
        return
      }
    }
  }
}

/** Durations by the value of one label. */
class LabelledDurations {
  readonly bounds: readonly number[]
  readonly #byValue = new Map<string, Durations>()

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
  }

  observe(value: string, ms: number): void {
    const durations = this.#byValue.get(value) ?? new Durations(this.bounds)
    if (durations.count === 0) this.#byValue.set(value, durations)
    durations.observe(ms)
  }

  *series(label: string): Iterable<readonly [Labels, Durations]> {
    for (const [value, durations] of this.#byValue) yield [{ [label]: value }, durations]
  }
}

/** A counter that is incremented with every call: an addition, without a lookup by labels. */
class Tally extends Counter<string> {
  readonly #names: readonly string[]
  readonly #counts = new Map<string, Map<string, number>>()

  constructor(settings: CounterConfiguration<string>) {
    super(settings)
    this.#names = settings.labelNames ?? []
  }

  /** Adds one to the series with these label values, in the order of the labels. */
  count(first: string, second = ''): void {
    const counts = this.#counts.get(first) ?? new Map<string, number>()
    if (counts.size === 0) this.#counts.set(first, counts)
    counts.set(second, (counts.get(second) ?? 0) + 1)
  }

  collect(): void {
    this.reset()
    const [one = '', other] = this.#names
    for (const [first, counts] of this.#counts) {
      for (const [second, count] of counts) this.inc({ [one]: first, ...(other === undefined ? {} : { [other]: second }) }, count)
    }
  }
}

class ReadHistogram extends Histogram<string> {
  readonly #empty: Histogram<string>
  readonly #name: string
  readonly #read: () => Iterable<readonly [Labels, Durations]>

  constructor(settings: HistogramConfiguration<string>, read: () => Iterable<readonly [Labels, Durations]>) {
    super(settings)
    this.#empty = new Histogram(settings)
    this.#name = settings.name
    this.#read = read
  }

  override async get() {
    return {
      ...(await this.#empty.get()),
      values: [...this.#read()].flatMap(([labels, series]) => this.#valuesOf(labels, series)),
    }
  }

  /** The text of the registry. */
  getForPromString() {
    return this.get()
  }

  #valuesOf(labels: Labels, { bounds, counts, count, sumMs }: Durations) {
    let sum = 0
    const buckets = bounds.map((bound, at) => {
      sum += counts[at] ?? 0
      return { metricName: `${this.#name}_bucket`, labels: { ...labels, le: bound }, value: sum }
    })
    return [
      ...buckets,
      { metricName: `${this.#name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
      { metricName: `${this.#name}_sum`, labels, value: sumMs / 1000 },
      { metricName: `${this.#name}_count`, labels, value: count },
    ]
  }
}

/** The measurements of a process as plain data. */
export type Measured = MetricObjectWithValues<MetricValue<string>>[]

/** The metrics of several processes as one text, each by its own rule: mostly their sum. */
export function mergedMetrics(ofProcesses: readonly Measured[]): Promise<string> {
  return AggregatorRegistry.aggregate([...ofProcesses]).metrics()
}
