import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import { droppedLines } from './log-output.ts'

/** The only file that knows the metrics library. Names follow Prometheus conventions. */
export type Metrics = ReturnType<typeof newMetrics>

interface Readings {
  failedCallsWaiting: () => number
  unknownKeyCalls: () => ReadonlyMap<string, number>
}

export function newMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
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
    name: 'sluice_log_lines_dropped',
    help: 'Log lines that nobody took, since the start',
    registers,
    collect() {
      this.set(droppedLines())
    },
  })

  /** What is read when the metrics are asked for; the parts that know it set it. */
  const readings: Readings = { failedCallsWaiting: () => 0, unknownKeyCalls: () => new Map() }
  new Gauge({
    name: 'sluice_failed_call_rows_waiting',
    help: 'Log rows of failed calls that are not written yet',
    registers,
    collect() {
      this.set(readings.failedCallsWaiting())
    },
  })
  new Gauge({
    name: 'sluice_unknown_key_calls',
    help: 'Relay calls without a known key since the start, by address; the addresses with the most',
    labelNames: ['address'],
    registers,
    collect() {
      this.reset()
      for (const [address, count] of readings.unknownKeyCalls()) this.set({ address }, count)
    },
  })

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
    relayRequests: new Counter({
      name: 'sluice_relay_requests_total',
      help: 'Finished relay requests',
      labelNames: ['format', 'outcome'],
      registers,
    }),
    relaySeconds: new Histogram({
      name: 'sluice_relay_duration_seconds',
      help: 'Duration of relay requests',
      labelNames: ['format'],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300],
      registers,
    }),
    relayOpen: new Gauge({ name: 'sluice_relay_open', help: 'Relay requests in progress', registers }),
    upstreamAttempts: new Counter({
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
    ledgerDiscrepancy: new Gauge({
      name: 'sluice_ledger_discrepancy_users',
      help: 'Users whose balance differs from their ledger',
      registers,
    }),
  }
}

/** What a process has measured, as plain data. */
export type Measured = MetricObjectWithValues<MetricValue<string>>[]

/** The metrics of several processes as one text, each by its own rule: mostly their sum. */
export function mergedMetrics(ofProcesses: readonly Measured[]): Promise<string> {
  return AggregatorRegistry.aggregate([...ofProcesses]).metrics()
}
