import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { droppedLines } from './log-output.ts'

/** The only file that knows the metrics library. Names follow Prometheus conventions. */
export type Metrics = ReturnType<typeof newMetrics>

export function newMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  new Gauge({
    name: 'sluice_log_lines_dropped',
    help: 'Log lines that nobody took, since the start',
    registers,
    collect() {
      this.set(droppedLines())
    },
  })

  return {
    registry,
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
