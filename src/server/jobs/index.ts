import { buildLargeIndexes } from './build-indexes.ts'
import { checkCertificates } from './check-certificates.ts'
import { checkUpstreamModels } from './check-models.ts'
import { evaluateAlerts } from './evaluate-alerts.ts'
import { expireHolds } from './expire-holds.ts'
import { forgetMissingEndpoints } from './expire-missing-endpoints.ts'
import { findNewerPublicPrices } from './find-newer-prices.ts'
import { noteNode } from './note-node.ts'
import { notifyOfBudgets } from './notify-budgets.ts'
import { notifyOfDisabledChannels } from './notify-disabled-channels.ts'
import { notifyOfImplausibleUsage } from './notify-implausible-usage.ts'
import { partitionLog } from './partition-log.ts'
import { pollUpstreamTasks } from './poll-tasks.ts'
import { probeModels } from './probe-models.ts'
import { purgeBudgets } from './purge-budgets.ts'
import { purgeCallStatistics } from './purge-call-statistics.ts'
import { purgeIdempotentRequests } from './purge-idempotent-requests.ts'
import { purgeLogs } from './purge-logs.ts'
import { purgeQualityResults } from './purge-quality-results.ts'
import { purgeRecordings } from './purge-recordings.ts'
import { purgeSealedStates } from './purge-sealed-states.ts'
import { purgeSessions } from './purge-sessions.ts'
import { purgeStoredResponses } from './purge-stored-responses.ts'
import { readSpending } from './read-spending.ts'
import { reconcileLedger } from './reconcile-ledger.ts'
import { refreshBalances } from './refresh-balances.ts'
import { rollUpUsage } from './roll-up.ts'
import { runQualityChecks } from './run-quality-checks.ts'
import type { Job } from './runner.ts'
import { sendQueuedDeliveries } from './send-deliveries.ts'
import { settleResponses } from './settle-responses.ts'
import { testChannels } from './test-channels.ts'
import { warnOfLowQuota } from './warn-low-quota.ts'
import { watchDestinations } from './watch-destinations.ts'

/** All jobs of the server. A new one is a file and a line here. */
export const jobs: readonly Job[] = [
  noteNode,
  buildLargeIndexes,
  partitionLog,
  expireHolds,
  readSpending,
  reconcileLedger,
  purgeSessions,
  warnOfLowQuota,
  rollUpUsage,
  purgeLogs,
  purgeCallStatistics,
  purgeSealedStates,
  purgeStoredResponses,
  purgeIdempotentRequests,
  purgeRecordings,
  purgeQualityResults,
  purgeBudgets,
  settleResponses,
  pollUpstreamTasks,
  testChannels,
  runQualityChecks,
  probeModels,
  notifyOfDisabledChannels,
  notifyOfImplausibleUsage,
  notifyOfBudgets,
  evaluateAlerts,
  checkCertificates,
  sendQueuedDeliveries,
  watchDestinations,
  refreshBalances,
  checkUpstreamModels,
  forgetMissingEndpoints,
  findNewerPublicPrices,
]
