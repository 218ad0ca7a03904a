import type { Kysely } from 'kysely'
import type { Dialect } from '../columns.ts'
import { start } from './0001-start.ts'
import { sealedStates } from './0002-sealed-states.ts'
import { channelKeys } from './0003-channel-keys.ts'
import { tokenLimits } from './0004-token-limits.ts'
import { strictTokens } from './0005-strict-tokens.ts'
import { upstreamModels } from './0006-upstream-models.ts'
import { upstreamResponses } from './0007-kept-responses.ts'
import { redemptionExpiry } from './0008-redemption-expiry.ts'
import { accountMail } from './0009-account-mail.ts'
import { loginMethods } from './0010-ways-in.ts'
import { payments } from './0011-payments.ts'
import { tasks } from './0012-tasks.ts'
import { noticeRetries } from './0015-notice-retries.ts'
import { statistics } from './0016-statistics.ts'
import { nodes } from './0017-nodes.ts'
import { localResponses } from './0018-own-responses.ts'
import { usageHours } from './0019-usage-hours.ts'
import { savedViews } from './0020-saved-views.ts'
import { chargedTasks } from './0021-charged-tasks.ts'
import { idempotentRequests } from './0023-idempotent-requests.ts'
import { siteCosts } from './0024-site-costs.ts'
import { passedHeaders } from './0025-passed-headers.ts'
import { hostedTools } from './0026-hosted-tools.ts'
import { lackingEndpoints } from './0027-lacking-endpoints.ts'
import { priceData } from './0028-price-data.ts'
import { imports } from './0029-imports.ts'
import { failedCalls } from './0030-failed-calls.ts'
import { destinations } from './0031-destinations.ts'
import { recordings } from './0032-recordings.ts'
import { callStatistics } from './0033-call-statistics.ts'
import { alerts } from './0034-alerts.ts'
import { budgets } from './0035-budgets.ts'
import { statusPage } from './0036-status-page.ts'
import { qualityChecks } from './0037-quality-checks.ts'
import { ledgerJournal } from './0038-ledger-journal.ts'
import { journalRuns } from './0039-journal-runs.ts'
import { promptAdditions } from './0040-prompt-additions.ts'
import { answeredModels } from './0041-answered-models.ts'
import { modelEnds } from './0042-model-ends.ts'
import { lastBackup } from './0043-last-backup.ts'
import { channelTests } from './0045-channel-tests.ts'
import { deployments } from './0046-deployments.ts'
import { resumableReplies } from './0047-resumable-replies.ts'
import { chargedResponses } from './0048-charged-responses.ts'
import { videos } from './0049-videos.ts'
import { accountKinds } from './0050-account-kinds.ts'
import { organisations } from './0051-organisations.ts'
import { budgetRaises } from './0052-budget-raises.ts'
import { files } from './0053-files.ts'
import { batches } from './0054-batches.ts'
import { organisationWebhooks } from './0055-organisation-webhooks.ts'
import { signOn } from './0056-sign-on.ts'

export interface Migration {
  /** In which the migrations are ordered, and by which a database knows that it has it. */
  readonly name: string
  readonly up: (db: Kysely<unknown>, dialect: Dialect) => Promise<void>
}

/**
 * All migrations, in the order of their numbers, in which they run. Forward only: a landed one is never edited. How numbers are
 * assigned, and why some are missing: docs/how-to/add-a-migration.md.
 */
export const migrations: readonly Migration[] = [
  { name: '0001-start', up: start },
  { name: '0002-sealed-states', up: sealedStates },
  { name: '0003-channel-keys', up: channelKeys },
  { name: '0004-token-limits', up: tokenLimits },
  { name: '0005-strict-tokens', up: strictTokens },
  { name: '0006-upstream-models', up: upstreamModels },
  { name: '0007-kept-responses', up: upstreamResponses },
  { name: '0008-redemption-expiry', up: redemptionExpiry },
  { name: '0009-account-mail', up: accountMail },
  { name: '0010-ways-in', up: loginMethods },
  { name: '0011-payments', up: payments },
  { name: '0012-tasks', up: tasks },
  { name: '0015-notice-retries', up: noticeRetries },
  { name: '0016-statistics', up: statistics },
  { name: '0017-nodes', up: nodes },
  { name: '0018-own-responses', up: localResponses },
  { name: '0019-usage-hours', up: usageHours },
  { name: '0020-saved-views', up: savedViews },
  { name: '0021-charged-tasks', up: chargedTasks },
  { name: '0023-idempotent-requests', up: idempotentRequests },
  { name: '0024-site-costs', up: siteCosts },
  { name: '0025-passed-headers', up: passedHeaders },
  { name: '0026-hosted-tools', up: hostedTools },
  { name: '0027-lacking-endpoints', up: lackingEndpoints },
  { name: '0028-price-data', up: priceData },
  { name: '0029-imports', up: imports },
  { name: '0030-failed-calls', up: failedCalls },
  { name: '0031-destinations', up: destinations },
  { name: '0032-recordings', up: recordings },
  { name: '0033-call-statistics', up: callStatistics },
  { name: '0034-alerts', up: alerts },
  { name: '0035-budgets', up: budgets },
  { name: '0036-status-page', up: statusPage },
  { name: '0037-quality-checks', up: qualityChecks },
  { name: '0038-ledger-journal', up: ledgerJournal },
  { name: '0039-journal-runs', up: journalRuns },
  { name: '0040-prompt-additions', up: promptAdditions },
  { name: '0041-answered-models', up: answeredModels },
  { name: '0042-model-ends', up: modelEnds },
  { name: '0043-last-backup', up: lastBackup },
  { name: '0045-channel-tests', up: channelTests },
  { name: '0046-deployments', up: deployments },
  { name: '0047-resumable-replies', up: resumableReplies },
  { name: '0048-charged-responses', up: chargedResponses },
  { name: '0049-videos', up: videos },
  { name: '0050-account-kinds', up: accountKinds },
  { name: '0051-organisations', up: organisations },
  { name: '0052-budget-raises', up: budgetRaises },
  { name: '0053-files', up: files },
  { name: '0054-batches', up: batches },
  { name: '0055-organisation-webhooks', up: organisationWebhooks },
  { name: '0056-sign-on', up: signOn },
]
