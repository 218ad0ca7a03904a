import { checkUpstreamModels } from './check-models.ts'
import { expireHolds } from './expire-holds.ts'
import { forgetMissingEndpoints } from './expire-missing-endpoints.ts'
import { findNewerPublicPrices } from './find-newer-prices.ts'
import { noteNode } from './note-node.ts'
import { notifyOfDisabledChannels } from './notify-disabled-channels.ts'
import { notifyOfImplausibleUsage } from './notify-implausible-usage.ts'
import { pollUpstreamTasks } from './poll-tasks.ts'
import { purgeIdempotentRequests } from './purge-idempotent-requests.ts'
import { purgeLogs } from './purge-logs.ts'
import { purgeSealedStates } from './purge-sealed-states.ts'
import { purgeSessions } from './purge-sessions.ts'
import { purgeStoredResponses } from './purge-stored-responses.ts'
import { readSpending } from './read-spending.ts'
import { reconcileLedger } from './reconcile-ledger.ts'
import { refreshBalances } from './refresh-balances.ts'
import { rollUpUsage } from './roll-up.ts'
import type { Job } from './runner.ts'
import { settleResponses } from './settle-responses.ts'
import { testChannels } from './test-channels.ts'
import { warnOfLowQuota } from './warn-low-quota.ts'

/** All jobs of the server. A new one is a file and a line here. */
export const jobs: readonly Job[] = [
  noteNode,
  expireHolds,
  readSpending,
  reconcileLedger,
  purgeSessions,
  warnOfLowQuota,
  rollUpUsage,
  purgeLogs,
  purgeSealedStates,
  purgeStoredResponses,
  purgeIdempotentRequests,
  settleResponses,
  pollUpstreamTasks,
  testChannels,
  notifyOfDisabledChannels,
  notifyOfImplausibleUsage,
  refreshBalances,
  checkUpstreamModels,
  forgetMissingEndpoints,
  findNewerPublicPrices,
]
