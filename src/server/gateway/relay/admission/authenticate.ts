import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import { organisationHeader } from '../../../../contract/organisation-roles.ts'
import { withDatabaseTimeout } from '../../../base/db/with-timeout.ts'
import { upTo } from '../../../base/lib/collections/cache-size.ts'
import type { Snapshot } from '../../../base/lib/collections/snapshot.ts'
import { AppError, fail } from '../../../base/lib/failure.ts'
import type { Core } from '../../../base/options/core.ts'
import { groupsToTry } from '../../../money/pricing/groups.ts'
import { requireChangedPassword, requireIdentity } from '../../../people/accounts/identify.ts'
import type { Sessions } from '../../../people/accounts/sessions.ts'
import { type Authenticator, type RelayCaller, readAcceptsUnpriced } from '../../../people/tokens/authenticate.ts'
import type { ChannelIndex } from '../../channels/index/model-index.ts'
import type { RateLimitLease } from '../../limits/rate-limit-lease.ts'
import type { Dialect } from '../../protocols/format.ts'
import { isObject } from '../../protocols/wire-format.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import { type Body, bodyLimitBytes, type ReceivedRequest } from '../http/read-body.ts'
import { requireWithinCount } from './limits.ts'

/** The parts that authentication uses. */
export interface CallerParts extends Core {
  readonly sessions: Sessions
  readonly authenticator: Authenticator
}

/**
 * Authenticates the caller: by an `sk-` key in any place that a dialect has for it, or for the playground by the session of the
 * console.
 */
export function authenticateCall(
  app: CallerParts,
  endpoint: { from: 'token' | 'session' },
  call: ClientExchange,
): Promise<RelayCaller> | RelayCaller {
  if (endpoint.from === 'session') return callerOfSession(app, call)
  return app.authenticator.authenticate(
    keysIn(call.request.headers, call.dialect, call.request.url),
    call.client.address,
    call.notes,
  )
}

/** Where a key may be, in the order of the dialect. Each distinct one is tried, so that a placeholder does not hide a valid key. */
export function keysIn(headers: IncomingHttpHeaders, dialect: Dialect, url = ''): string[] {
  const bearer = headers.authorization
  const apiKey = textOf(headers['x-api-key'])
  const googleKey = textOf(headers['x-goog-api-key'])
  const azureKey = textOf(headers['api-key'])
  const ordered = {
    openai: [bearer, apiKey, googleKey, azureKey, keyInProtocols(headers)],
    anthropic: [apiKey, bearer, googleKey, azureKey],
    drawing: [bearer, textOf(headers['mj-api-secret']), apiKey],
    music: [bearer, apiKey],
    // URLs end in logs, so that a key in one is accepted in this dialect only, and not passed on.
    gemini: [googleKey, keyInQuery(url), bearer, apiKey, azureKey],
  }[dialect]
  return ordered.filter((key) => key !== undefined && key !== '').map(String)
}

/** Browsers can set no header for a socket, so that the key is one of the subprotocols that they offer. */
function keyInProtocols({ upgrade, 'sec-websocket-protocol': offered = '' }: IncomingHttpHeaders): string | undefined {
  if (upgrade === undefined) return undefined
  const marked = offered.split(',').find((name) => name.trim().startsWith(keyProtocol))
  return marked?.trim().slice(keyProtocol.length)
}

const keyProtocol = 'openai-insecure-api-key.'

async function callerOfSession(app: CallerParts, call: ClientExchange): Promise<RelayCaller> {
  const { headers } = call.request
  if (headers.authorization !== undefined) fail('playground_needs_session')
  if (headers[organisationHeader] !== undefined) fail('payer_refused')
  const identity = await requireIdentity(app, headers)
  requireChangedPassword(identity, call.client)
  const { account, sessionToken = '' } = identity
  const caller = {
    userId: account.id,
    username: account.username,
    role: account.role,
    userGroup: account.group,
    acceptsUnpriced: readAcceptsUnpriced(account.setting),
    ...noToken,
  }
  call.notes.caller = caller
  call.notes.credential = sessionToken
  return caller
}

/** The token fields for a caller without a token: no restrictions. */
export const noToken = {
  tokenId: 0,
  tokenName: '',
  tokenGroup: '',
  modelLimits: null,
  allowedAddresses: null,
  expiresAt: -1,
  limits: null,
  isStrict: false,
  refusesHostedTools: false,
  resumesStreams: false,
  pinnedChannel: 0,
  hadBalance: true,
} as const

function keyInQuery(url: string): string | undefined {
  const query = url.indexOf('?')
  return query < 0 ? undefined : (new URLSearchParams(url.slice(query)).get('key') ?? undefined)
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

/**
 * The playground sends a request of Chat or Decisions with a `group`, and numbers of 0 that mean "not set". This makes it a plain
 * request of a caller in that group. Throws `group_forbidden`.
 */
export function readPlaygroundRequest(app: CallerParts, caller: RelayCaller, sent: Body): { caller: RelayCaller; body: Body } {
  const { group, ...rest } = sent.json
  const tokenGroup = typeof group === 'string' ? group : ''
  const inGroup = { ...caller, tokenGroup, tokenName: `playground-${tokenGroup || caller.userGroup}` }
  groupsToTry(app.options.current, inGroup)

  const kept = Object.entries(rest).filter(([key, value]) => !(value === 0 && unsetByZero.has(key)))
  const messages = Array.isArray(rest.messages) ? { messages: rest.messages.map(plainMessage) } : {}
  const json = { ...Object.fromEntries(kept), ...messages }
  return { caller: inGroup, body: { json, bytes: Buffer.from(JSON.stringify(json)) } }
}

const unsetByZero = new Set(['max_tokens', 'max_completion_tokens', 'temperature'])

/** Removes the console's own members (id, time, state) from a message; upstreams refuse them. */
function plainMessage(message: unknown): unknown {
  if (!isObject(message)) return message
  const { id, createAt, createdAt, status, ...plain } = message
  return plain
}

/** The parts that checks before the body use. */
interface UnreadParts extends Pick<Core, 'now' | 'db' | 'options'> {
  readonly channels: Snapshot<ChannelIndex>
  readonly emptyBalances: EmptyBalances
}

/** A request whose body has not been read. */
interface UnreadRequest {
  readonly caller: RelayCaller
  readonly lease: RateLimitLease | undefined
  /** The call is free. */
  readonly isFree: boolean
  /** The body names the group. */
  readonly groupInBody?: boolean
}

/**
 * Refuses a request before its body is read and parsed: for an empty balance, a reached request or concurrency limit, or a declared
 * length that is too large. Synchronous unless balance or limits must be read. The exact checks are the hold and `enterLimits`.
 * Throws `quota_insufficient`, `rate_limit_requests`, `rate_limit_successes`, `rate_limit_concurrency`, `body_too_large` or
 * `database_unavailable`.
 */
export function checkBeforeBody(app: UnreadParts, call: ClientExchange, asked: UnreadRequest): Promise<void> | undefined {
  const { caller, lease, isFree, groupInBody = false } = asked
  const mayBeEmpty = !isFree && app.emptyBalances.mayBeEmpty(caller)
  const limited = groupInBody ? undefined : lease
  if (mayBeEmpty || limited) return queryBeforeBody(app, call, { caller, mayBeEmpty, limited, groupInBody })
  requireSize(declaredBytes(call.request))
  return undefined
}

async function queryBeforeBody(
  app: UnreadParts,
  call: ClientExchange,
  asked: {
    readonly caller: RelayCaller
    readonly mayBeEmpty: boolean
    readonly limited: RateLimitLease | undefined
    readonly groupInBody: boolean
  },
): Promise<void> {
  const { caller, mayBeEmpty, limited, groupInBody } = asked
  if (mayBeEmpty) await requireBalance(app, caller, groupInBody)
  const declared = declaredBytes(call.request)
  if (limited) await requireWithinCount(app, call, limited, declared > worthAskingBytes)
  requireSize(declared)
}

function requireSize(declared: number): void {
  if (declared > bodyLimitBytes && declared < Number.POSITIVE_INFINITY) fail('body_too_large', { limit: bodyLimitBytes })
}

/** Above this size, reading a body costs more than a query to Redis. */
const worthAskingBytes = 64 * 1024

/** Infinity for a body of unknown length. */
function declaredBytes({ headers }: ReceivedRequest): number {
  return headers['content-length'] === undefined ? Number.POSITIVE_INFINITY : Number(headers['content-length'])
}

/** Reads the balance again: another node or a change in the database may have raised it. */
async function requireBalance(app: UnreadParts, caller: RelayCaller, groupInBody: boolean): Promise<void> {
  const found = app.db.selectFrom('users').select('quota').where('id', '=', caller.userId).executeTakeFirst()
  const row = await withDatabaseTimeout(found).catch((cause: unknown) => fail('database_unavailable', {}, { cause }))
  if (!row || row.quota > 0) {
    app.emptyBalances.clear(caller.userId)
    return
  }
  // A balance of zero suffices for a free call; a negative one does not.
  if (row.quota === 0 && mayUseFree(app, groupInBody ? { ...caller, tokenGroup: 'auto' } : caller)) return
  fail('quota_insufficient', { have: row.quota, need: 1 })
}

/** Whether a model that the caller may use could be free. */
function mayUseFree({ channels, options }: UnreadParts, caller: RelayCaller): boolean {
  const { GroupRatio, ModelPrice, ModelRatio } = options.current
  const names = new Set([...Object.keys(ModelPrice), ...Object.keys(ModelRatio)])
  const isUsable = (model: string) => caller.modelLimits?.has(model) ?? true
  const free = [...names].filter((model) => (ModelPrice[model] ?? ModelRatio[model]) === 0 && isUsable(model))
  const isServed = (group: string) => free.some((model) => channels.current.candidates(group, model).length > 0)
  return groupsToTry(options.current, caller).some((group) => GroupRatio[group] === 0 || isServed(group))
}

const usersMax = 10_000

/** Users whose last request was refused with an empty balance; their next request reads the balance before its body. */
export class EmptyBalances {
  readonly #users = new LRUCache<number, true>(upTo(usersMax))

  /** Remembers the user when a hold was refused for an empty balance. */
  noteRefusal(userId: number, error: unknown): void {
    if (error instanceof AppError && error.code === 'quota_insufficient' && Number(error.params.have) <= 0)
      this.#users.set(userId, true)
  }

  /** Whether the balance of this caller may be empty and must be read. */
  mayBeEmpty({ userId, hadBalance }: Pick<RelayCaller, 'userId' | 'hadBalance'>): boolean {
    return !hadBalance || this.#users.has(userId)
  }

  /** Removes a user whose balance is no longer empty. */
  clear(userId: number): void {
    this.#users.delete(userId)
  }
}
