import { fail } from '../../base/lib/failure.ts'
import { findUsedKey } from '../channels/index/find-used-key.ts'
import { type Asked, answerJson, queryOf, siteOf, tellFailure } from '../files/asked.ts'
import { authenticateCall } from '../relay/admission/authenticate.ts'
import { enterLimits, withinLimits } from '../relay/admission/limits.ts'
import type { BatchCall } from '../relay/http/batch-paths.ts'
import type { ClientExchange } from '../relay/http/client-exchange.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { callUpstream } from '../relay/upstream/call-upstream.ts'
import { UpstreamFailure } from '../relay/upstream/failure.ts'
import { callerHeaders } from '../relay/upstream/request-target.ts'
import { batchForms } from './batch-form.ts'
import { findBatch, forgetBatch, type KeptBatch, listBatches } from './batch-table.ts'
import { answerBatch, createFromBody, createFromFile } from './create.ts'
import { createAtGemini } from './create-gemini.ts'
import { askForBatch, cancelBatch } from './follow.ts'
import { hasResultsInside, sendResults, withResults } from './results.ts'

/**
 * Batches that users order at vendors: many requests, worked off within a day at a lower price. The greatest cost of all of them is held
 * before a vendor has the batch, and what has run is charged once when it has ended, by the first who notices. See
 * docs/decisions/0057-batches.md. The relay's router passes all calls about batches to this function.
 */
export async function handleBatch(app: RelayParts, batchCall: BatchCall, call: ClientExchange): Promise<void> {
  if (!app.options.current['batches.enabled']) fail('not_implemented')
  const caller = await authenticateCall(app, batchCall, call)
  const lease = app.limits.leaseOf(caller, call.id)
  const asked = { call, caller, lease }
  const run = async () => {
    const group = caller.tokenGroup || caller.userGroup
    if (lease) await enterLimits(app, call, lease, { group, inputTokens: 0, outputTokens: 0 })
    await answer(app, batchCall, asked)
  }
  if (lease) await withinLimits(app, { call, lease }, run)
  else await run()
}

async function answer(app: RelayParts, batchCall: BatchCall, asked: Asked): Promise<void> {
  const { dialect, from } = batchCall
  if (!('id' in batchCall)) {
    if (batchCall.action === 'list') return list(app, dialect, asked)
    if (batchCall.model !== undefined) return createAtGemini(app, asked, batchCall.model)
    return dialect === 'openai' ? createFromFile(app, asked) : createFromBody(app, asked)
  }
  const batch = await findBatch(app, asked.caller.userId, { ...(from === 'token' ? { dialect } : {}), id: batchCall.id })
  return actions[batchCall.action](app, asked, batch)
}

type OnBatch = (app: RelayParts, asked: Asked, batch: KeptBatch) => Promise<void>

const actions: Readonly<Record<Extract<BatchCall, { id: string }>['action'], OnBatch>> = {
  read,
  cancel,
  results: sendResults,
  delete: remove,
}

/** Lists the caller's batches as they were last seen; vendors' own lists have those of all callers. */
async function list(app: RelayParts, dialect: KeptBatch['dialect'], asked: Asked): Promise<void> {
  const form = batchForms[dialect]
  const page = form.readPage(queryOf(asked.call))
  const found = await listBatches(app, asked.caller.userId, { dialect, ...page, limit: page.limit + 1 })
  const hasMore = found.length > page.limit
  // Towards the newest, the batch too many is the first.
  const batches = hasMore && page.before !== undefined && page.after === undefined ? found.slice(1) : found.slice(0, page.limit)
  answerJson(asked, form.writePage({ batches, hasMore, site: siteOf(app, asked.call) }))
}

async function read(app: RelayParts, asked: Asked, batch: KeptBatch): Promise<void> {
  const seen = await askForBatch(app, batch)
  // What is known is better than the failure of a vendor to tell more.
  const now = seen instanceof UpstreamFailure ? batch : seen
  if (now.state === 'settled' && hasResultsInside(now)) answerJson(asked, await withResults(app, asked, now))
  else answerBatch(app, asked, now)
}

async function cancel(app: RelayParts, asked: Asked, batch: KeptBatch): Promise<void> {
  const { channel, seen } = await cancelBatch(app, batch, (used) => callerHeaders({ call: asked.call }, used))
  if (seen instanceof UpstreamFailure && channel) return tellFailure(asked, seen, channel)
  answerBatch(app, asked, seen instanceof UpstreamFailure ? batch : seen)
}

const timeoutMs = 60_000

/** Deletes a batch that has ended, here and at its vendor. Its charges stay in the log. */
async function remove(app: RelayParts, asked: Asked, batch: KeptBatch): Promise<void> {
  if (batch.state !== 'settled' && batch.state !== 'failed') fail('batch_running', { id: batch.id })
  const channel = batch.vendorId === '' ? undefined : await findUsedKey(app, batch)
  if (channel) {
    const suffix = `/${encodeURIComponent(batch.vendorId)}`
    const call = { format: batchForms[batch.dialect].format, model: '', method: 'DELETE' as const, suffix, caller: {}, timeoutMs }
    const answer = await callUpstream(app, channel, call)
    if (answer instanceof UpstreamFailure && answer.status !== 404) return tellFailure(asked, answer, channel)
  }
  await forgetBatch(app.db, batch.id)
  answerJson(asked, batchForms[batch.dialect].deleted(batch.id))
}
