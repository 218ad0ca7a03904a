import type { IncomingMessage } from 'node:http'
import { withDatabaseTimeout } from '../../db/with-timeout.ts'
import { fail } from '../../lib/failure.ts'
import type { RateLimitLease } from '../../limits/rate-limit-lease.ts'
import { groupsToTry } from '../../pricing/groups.ts'
import type { RelayCaller } from '../../tokens/authenticate.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import { bodyLimitBytes } from '../http/read-body.ts'
import type { RelayParts } from '../relay-parts.ts'
import { requireRoom } from './rate-limit.ts'

/** What is asked before the body of a request is read. */
interface Unread {
  readonly caller: RelayCaller
  readonly turn: RateLimitLease | undefined
  /** The call costs nothing. */
  readonly isFree: boolean
  /** The body names the group. */
  readonly groupInBody?: boolean
}

/**
 * Refuses what can be refused before a body is read and parsed: a caller without balance, one who is at a limit by count, and a body that is
 * declared too large. Exact judgement stays with the hold and with `enterLimits`. Throws `quota_insufficient`, `rate_limit_requests`,
 * `rate_limit_successes`, `rate_limit_concurrency`, `body_too_large` or `database_unavailable`.
 */
export async function judgeBeforeBody(app: RelayParts, call: ClientExchange, asked: Unread): Promise<void> {
  const { caller, turn, isFree, groupInBody = false } = asked
  if (!isFree && app.emptyBalances.mayBeEmpty(caller)) await requireBalance(app, caller, groupInBody)
  const declared = declaredBytes(call.request)
  if (turn && !groupInBody) await requireRoom(app, call, turn, declared > worthAskingBytes)
  if (declared > bodyLimitBytes && declared < Number.POSITIVE_INFINITY) fail('body_too_large', { limit: bodyLimitBytes })
}

/** From here on reading a body costs more than a question to Redis. */
const worthAskingBytes = 64 * 1024

/** Infinity for a body of unknown length. */
function declaredBytes({ headers }: IncomingMessage): number {
  return headers['content-length'] === undefined ? Number.POSITIVE_INFINITY : Number(headers['content-length'])
}

/** Reads the balance anew: it may have been filled up by another node or in the database. */
async function requireBalance(app: RelayParts, caller: RelayCaller, groupInBody: boolean): Promise<void> {
  const found = app.db.selectFrom('users').select('quota').where('id', '=', caller.userId).executeTakeFirst()
  const row = await withDatabaseTimeout(found).catch((cause: unknown) => fail('database_unavailable', {}, { cause }))
  if (!row || row.quota > 0) {
    app.emptyBalances.clear(caller.userId)
    return
  }
  // Nothing suffices for what costs nothing; a debt does not.
  if (row.quota === 0 && mayUseFree(app, groupInBody ? { ...caller, tokenGroup: 'auto' } : caller)) return
  fail('quota_insufficient', { have: row.quota, need: 1 })
}

/** Whether something that the caller may use could cost nothing. */
function mayUseFree({ channels, options }: RelayParts, caller: RelayCaller): boolean {
  const { GroupRatio, ModelPrice, ModelRatio } = options.current
  const names = new Set([...Object.keys(ModelPrice), ...Object.keys(ModelRatio)])
  const isUsable = (model: string) => caller.modelLimits?.has(model) ?? true
  const free = [...names].filter((model) => (ModelPrice[model] ?? ModelRatio[model]) === 0 && isUsable(model))
  const isServed = (group: string) => free.some((model) => channels.current.candidates(group, model).length > 0)
  return groupsToTry(options.current, caller).some((group) => GroupRatio[group] === 0 || isServed(group))
}
