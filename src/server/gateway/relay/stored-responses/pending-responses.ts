import { cacheWriteFactors } from '../../../../contract/options/extra-prices.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { type Core, isOnlyNode } from '../../../base/options/core.ts'
import { readWindows, windowsText } from '../../../money/ledger/budget-window.ts'
import type { CallLedger, Hold } from '../../../money/ledger/ledger.ts'
import type { Price } from '../../../money/pricing/quote.ts'
import type { UsageBound } from '../../../money/pricing/usage-bound.ts'
import type { PromptPolicy } from '../../channels/row/prompt-additions.ts'
import type { CallKind } from '../admission/hold-shares.ts'
import type { Billed } from '../charge/billed.ts'

/** A response that an upstream is still making after its request was answered or its caller disconnected. It is charged when it ends. */
export interface PendingResponse {
  readonly id: string
  readonly channelId: number
  readonly keyId: number
  readonly hold: Hold
  readonly bill: Bill
  readonly createdAt: number
  readonly asked: number
}

/** The data that any node needs to charge the response. */
interface Bill extends Billed {
  /** The model name of the caller's request. */
  readonly model: string
  readonly upstreamModel: string
  readonly inputTokens: number
  readonly bound?: UsageBound | undefined
  /** Of the channel; absent in rows of older versions. */
  readonly promptPolicy?: PromptPolicy
  readonly kind?: CallKind | undefined
  /** The model that was sent, if the reply can name it (`AnsweredModel.sent`); absent in rows of older versions. */
  readonly sentModel?: string
}

const leaseSeconds = 120
const claimedMax = 50

/**
 * The responses that are still running at upstreams. Each has a row until it is charged; the node that polls it owns its hold. The
 * charge is unique by its request, so that it may be written by the first call that finds the response ended: by a caller that
 * reads it, or a node that polls it.
 */
export class PendingResponses {
  readonly #core: Core
  readonly #ledger: CallLedger
  /** Holds of pending responses on this node, by request. */
  readonly #holds = new Map<string, Hold>()

  constructor(core: Core, ledger: CallLedger) {
    this.#core = core
    this.#ledger = ledger
  }

  /** Takes over the hold of the request. Resolves when the row is durable. */
  async open({ id, channelId, keyId, hold, bill }: Omit<PendingResponse, 'createdAt' | 'asked'>): Promise<void> {
    const now = seconds(this.#core.now())
    await this.#core.db
      .insertInto('open_responses')
      .values({
        request_id: hold.requestId,
        user_id: hold.userId,
        response_id: id,
        channel_id: channelId,
        key_id: keyId,
        held: hold.amount,
        bill: JSON.stringify({ ...bill, budgets: windowsText(hold.budgets) } satisfies KeptBill),
        node: this.#core.node,
        lease_until: now + leaseSeconds,
        ask_at: now + 2,
        created_at: now,
      })
      .execute()
    this.#holds.set(hold.requestId, hold)
  }

  async find(userId: number, id: string): Promise<PendingResponse | undefined> {
    const row = await this.#core.db
      .selectFrom('open_responses')
      .selectAll()
      .where('user_id', '=', userId)
      .where('response_id', '=', id)
      .executeTakeFirst()
    return row && readRow(row)
  }

  /** Returns the responses that this node is to poll now. Renews its leases, and takes over responses and holds of nodes that are gone. */
  async claim(): Promise<PendingResponse[]> {
    const { db, node, now } = this.#core
    const at = seconds(now())
    if (!(await db.selectFrom('open_responses').select('request_id').limit(1).executeTakeFirst())) return []
    const isMine = isOnlyNode(this.#core) ? at + leaseSeconds + 1 : at
    await db
      .updateTable('open_responses')
      .set({ lease_until: at + leaseSeconds })
      .where('node', '=', node)
      .execute()
    const due = db.selectFrom('open_responses').select('request_id').where('ask_at', '<=', at).orderBy('ask_at').limit(claimedMax)
    const rows = await db
      .updateTable('open_responses')
      .set({ node, lease_until: at + leaseSeconds, ask_at: at + leaseSeconds })
      .where('request_id', 'in', due)
      .where((row) => row.or([row('node', '=', node), row('lease_until', '<', isMine)]))
      .returningAll()
      .execute()
    const claimed = rows.map(readRow)
    for (const { hold } of claimed) await this.#hold(hold)
    return claimed
  }

  /** Schedules the next poll: soon at first, then every minute. */
  async askLater({ hold, asked }: PendingResponse): Promise<void> {
    await this.#core.db
      .updateTable('open_responses')
      .set({ ask_at: seconds(this.#core.now()) + Math.min(60, 2 * 2 ** Math.min(asked, 5)), asked: asked + 1 })
      .where('request_id', '=', hold.requestId)
      .execute()
  }

  /** Deletes the row of a response that was charged or costs nothing, and releases its hold. */
  async close(requestId: string): Promise<void> {
    await this.#core.db.deleteFrom('open_responses').where('request_id', '=', requestId).execute()
    await this.#letGo([requestId])
  }

  /** Deletes the row but keeps the hold: another attempt of the request uses it. */
  async withdraw(requestId: string): Promise<void> {
    this.#holds.delete(requestId)
    await this.#core.db.deleteFrom('open_responses').where('request_id', '=', requestId).execute()
  }

  /** Releases the holds of responses whose rows another node has deleted or taken over. */
  async sweep(): Promise<void> {
    const mine = [...this.#holds.keys()]
    if (mine.length === 0) return
    const rows = await this.#core.db
      .selectFrom('open_responses')
      .select('request_id')
      .where('request_id', 'in', mine)
      .where('node', '=', this.#core.node)
      .execute()
    const open = new Set(rows.map((row) => row.request_id))
    await this.#letGo(mine.filter((requestId) => !open.has(requestId)))
  }

  /** The hold is taken even from an insufficient balance: a running response must be paid. */
  async #hold(hold: Hold): Promise<void> {
    if (this.#holds.has(hold.requestId)) return
    try {
      await this.#ledger.hold(hold)
      this.#holds.set(hold.requestId, hold)
    } catch (error) {
      this.#core.logger.info({ error, request: hold.requestId }, 'an open response is asked for without a hold')
    }
  }

  async #letGo(requestIds: readonly string[]): Promise<void> {
    for (const requestId of requestIds) {
      const hold = this.#holds.get(requestId)
      this.#holds.delete(requestId)
      if (hold) await this.#ledger.release(hold)
    }
  }
}

interface Row {
  readonly request_id: string
  readonly user_id: number
  readonly response_id: string
  readonly channel_id: number
  readonly key_id: number
  readonly held: number
  readonly bill: string
  readonly created_at: number
  readonly asked: number
}

/** Rows of older versions lack the prices of tools and tiers, and the prices of media that were charged as text then. */
function completePrice(kept: Price): Price {
  return {
    ...{ toolUsd: {}, tierFactors: {}, cacheWriteFactors, videoCompletionRatio: kept.completionRatio },
    ...{ audioCacheRatio: kept.cacheRatio, imageCacheRatio: kept.cacheRatio },
    ...kept,
    ...(kept.steps ? { steps: kept.steps.map((step) => ({ ...step, price: completePrice(step.price) })) } : {}),
    ...(kept.later ? { later: kept.later.map((next) => ({ ...next, price: completePrice(next.price) })) } : {}),
  }
}

/** Rows of older versions lack the budgets. */
type KeptBill = Bill & { readonly budgets?: string }

function readRow(row: Row): PendingResponse {
  // Written by `open` only.
  const { budgets = '', ...written } = JSON.parse(row.bill) as KeptBill
  const bill = { ...written, price: completePrice(written.price), otherPrices: (written.otherPrices ?? []).map(completePrice) }
  return {
    id: row.response_id,
    channelId: row.channel_id,
    keyId: row.key_id,
    hold: {
      ...{ requestId: row.request_id, userId: row.user_id, tokenId: bill.caller.tokenId, amount: row.held },
      budgets: readWindows(budgets),
    },
    bill,
    createdAt: row.created_at,
    asked: row.asked,
  }
}
