import type { RequestLimit } from '../../../contract/entities/request-limit.ts'
import { neverExpires, tokenStatus } from '../../../contract/entities/token.ts'
import { userStatus } from '../../../contract/entities/user.ts'
import { isAdmin } from '../../../contract/roles.ts'
import type { Row } from '../../base/db/schema.ts'
import { withDatabaseTimeout } from '../../base/db/with-timeout.ts'
import { isObject, readJson } from '../../base/lib/bytes/read-json.ts'
import { fail } from '../../base/lib/failure.ts'
import { type AddressList, readAddressList } from '../../base/lib/net/addresses.ts'
import { sha256 } from '../../base/lib/secrets/secrets.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { accountKind } from '../accounts/users.ts'
import { type Bounds, readBounds } from '../organisations/allowances.ts'
import { openAccessTimes } from './access-times.ts'
import { daySeconds } from './place.ts'
import { readLimits, readModelList, statusNow } from './state.ts'
import { type CacheEntry, TokenCache } from './token-cache.ts'

/** A caller of the relay: a user, by one of their tokens or (token id 0) from the playground. */
export interface RelayCaller {
  readonly userId: number
  readonly username: string
  readonly role: number
  readonly userGroup: string
  /** From the user's `setting` JSON: whether models without a price may be used at the fallback ratio. */
  readonly acceptsUnpriced: boolean
  readonly tokenId: number
  readonly tokenName: string
  /** '' means the user's own group; `auto` tries the usable groups. */
  readonly tokenGroup: string
  /** Null when the token may use every model. */
  readonly modelLimits: ReadonlySet<string> | null
  /** Null when every address may use the token. */
  readonly allowedAddresses: AddressList | null
  /** Unix seconds, -1 never. */
  readonly expiresAt: number
  /** The limits of the token itself; null when it has none. */
  readonly limits: RequestLimit | null
  /** A request is refused rather than lose a field on the way to the upstream. */
  readonly isStrict: boolean
  /** A request is refused rather than lose a hosted tool that the model lacks. */
  readonly refusesHostedTools: boolean
  /** Its streams can be continued after a cut. */
  readonly resumesStreams: boolean
  /** Channel that an admin asked for with `sk-<key>-<id>`; 0 for none. */
  readonly pinnedChannel: number
  /** Where the token of an organisation belongs, and what that allows; absent for tokens of users. */
  readonly organisation?: Bounds
  /** The place in the organisation that forbids a group. */
  readonly forbidsGroup?: Bounds['forbidsGroup']
  /** Whether the user had a balance above zero when they were last read: true if it is unknown. */
  readonly hadBalance: boolean
}

export interface Authenticator {
  /**
   * Finds the caller behind the first known key of `candidates` (each as sent, with or without `Bearer` and `sk-`); at most three
   * different ones are looked up. That key decides: when it is refused, later ones in the list are not tried. Synchronous when the
   * token is cached. Throws `token_missing`, `token_invalid`, `token_disabled`, `token_expired`, `token_exhausted`,
   * `token_address_forbidden`, `user_banned`, `channel_pin_forbidden` or `database_unavailable`. `seen` receives a known key and its
   * owner, also when the key is refused.
   */
  authenticate(candidates: readonly string[], address: string, seen?: SeenCaller): Promise<RelayCaller> | RelayCaller
  /** Writes the access times that are still to be written. */
  close(): Promise<void>
}

/** Receives the known key that a call has sent, and its owner. */
interface SeenCaller {
  caller: Pick<RelayCaller, 'userId' | 'username' | 'tokenId' | 'tokenName'> | undefined
  /** Without `sk-` and the channel. */
  credential: string
}

/** A token and its owner as loaded. */
interface Known extends CacheEntry {
  readonly caller: RelayCaller
  readonly state: Pick<Row<'tokens'>, 'status' | 'expired_time' | 'unlimited_quota' | 'remain_quota'>
  readonly userStatus: number
  /** Unix seconds; moves on as the token is used. */
  accessedAt: number
}

interface Key {
  readonly text: string
  readonly hash: string
  readonly channel: number
}

const keysMax = 3
const accessTimeSeconds = 60

export function openAuthenticator(core: Core): Authenticator {
  const known = new TokenCache<Known>({ load: (hash) => loadToken(core, hash), now: core.now })
  const accessTimes = openAccessTimes(core)
  const offToken = core.bus.on('token', (id) => known.dropToken(id))
  const offUser = core.bus.on('user', (id) => known.dropUser(id))

  function authenticate(candidates: readonly string[], address: string, seen?: SeenCaller): Promise<RelayCaller> | RelayCaller {
    const keys = readKeys(candidates)
    for (const key of keys) {
      const token = known.peek(key.hash)
      if (token === undefined) return authenticateCold(keys, address, seen)
      if (token) return checkToken(token, key, address, seen)
    }
    return fail('token_invalid')
  }

  async function authenticateCold(keys: readonly Key[], address: string, seen?: SeenCaller): Promise<RelayCaller> {
    for (const key of keys) {
      const token = await known.find(key.hash)
      if (token) return checkToken(token, key, address, seen)
    }
    return fail('token_invalid')
  }

  function checkToken(token: Known, key: Key, address: string, seen?: SeenCaller): RelayCaller {
    const now = seconds(core.now())
    if (seen) {
      seen.caller = token.caller
      seen.credential = key.text
    }
    requireUsable(token, now)
    const { caller } = token
    if (caller.allowedAddresses && !caller.allowedAddresses.has(address)) fail('token_address_forbidden')
    if (key.channel !== 0 && !isAdmin(caller.role)) fail('channel_pin_forbidden')

    if (now - token.accessedAt >= accessTimeSeconds) {
      token.accessedAt = now
      accessTimes.note(token.tokenId)
    }
    return key.channel === 0 ? caller : { ...caller, pinnedChannel: key.channel }
  }

  return {
    authenticate,
    close() {
      offToken()
      offUser()
      return accessTimes.close()
    },
  }
}

/** Refuses a token that was unusable or had no quota when it was loaded. Whether the quota suffices is decided by the ledger. */
function requireUsable(token: Known, now: number): void {
  const status = statusNow(token.state, now)
  if (status === tokenStatus.expired) fail('token_expired')
  if (status === tokenStatus.exhausted) fail('token_exhausted')
  if (status !== tokenStatus.enabled) fail('token_disabled')
  if (token.userStatus !== userStatus.active) fail('user_banned')
}

/** The candidate keys, each once. Throws `token_missing` when nothing was sent and `token_invalid` when nothing looks like a key. */
function readKeys(candidates: readonly string[]): Key[] {
  const keys: Key[] = []
  let sent = false
  for (const candidate of candidates) {
    const text = candidate.trim().replace(/^bearer(\s+|$)/i, '')
    if (text === '') continue
    sent = true
    const key = readKey(text)
    if (key && keys.length < keysMax && !keys.some(({ hash }) => hash === key.hash)) keys.push(key)
  }
  if (keys.length === 0) fail(sent ? 'token_invalid' : 'token_missing')
  return keys
}

/** `sk-<key>` or `sk-<key>-<channel id>`, with or without `sk-`. */
function readKey(text: string): Key | undefined {
  const [, key, channel = '0'] = /^(?:sk-)?(\w{1,128})(?:-([1-9]\d{0,14}))?$/.exec(text) ?? []
  return key === undefined ? undefined : { text: key, hash: sha256(key), channel: Number(channel) }
}

/** Null when the key belongs to no token, or when its token or user is deleted. Throws `database_unavailable`. */
async function loadToken(core: Core, hash: string): Promise<Known | null> {
  const found = core.db
    .selectFrom('tokens')
    .innerJoin('users', 'users.id', 'tokens.user_id')
    .leftJoin('organisation_members as member', (join) =>
      join.onRef('member.id', '=', 'tokens.member_id').on('member.left_at', 'is', null),
    )
    .leftJoin('users as holder', (join) => join.onRef('holder.id', '=', 'member.user_id').on('holder.deleted_at', 'is', null))
    .selectAll('tokens')
    .select(['holder.id as holder_id', 'holder.status as holder_status', 'users.kind'])
    .select([
      'users.username',
      'users.role',
      'users.group as user_group',
      'users.status as user_status',
      'users.setting',
      'users.quota',
    ])
    .where('tokens.key_hash', '=', hash)
    .where('tokens.deleted_at', 'is', null)
    .where('users.deleted_at', 'is', null)
    .executeTakeFirst()
  const row = await withDatabaseTimeout(found).catch((cause: unknown) => fail('database_unavailable', {}, { cause }))
  if (!row) return null
  // The key of somebody who has left an organisation is nobody's.
  if (row.member_id !== 0 && row.holder_id === null) return null
  const bounds = row.kind === accountKind.organisation ? await readPlace(core, row) : undefined

  return {
    tokenId: row.id,
    userId: row.user_id,
    holderId: row.holder_id ?? 0,
    state: {
      status: row.status,
      expired_time: latestTime(row, bounds),
      unlimited_quota: row.unlimited_quota,
      remain_quota: row.remain_quota,
    },
    userStatus: row.holder_status === null || row.holder_status === userStatus.active ? row.user_status : row.holder_status,
    accessedAt: row.accessed_time,
    caller: Object.freeze({
      userId: row.user_id,
      username: row.username,
      role: row.role,
      userGroup: row.user_group,
      acceptsUnpriced: readAcceptsUnpriced(row.setting),
      tokenId: row.id,
      tokenName: row.name,
      tokenGroup: row.group,
      modelLimits: modelsOf(row, bounds),
      allowedAddresses: readAllowedAddresses(row.allow_ips),
      expiresAt: latestTime(row, bounds),
      limits: readLimits(row),
      isStrict: row.strict_translation === 1 || bounds?.isStrict === true,
      refusesHostedTools: row.refuse_hosted_tools === 1,
      resumesStreams: row.resumable === 1,
      pinnedChannel: 0,
      hadBalance: row.quota > 0,
      ...(bounds ? { organisation: bounds, forbidsGroup: bounds.forbidsGroup } : {}),
    }),
  }
}

function readPlace({ db }: Core, token: Row<'tokens'>): Promise<Bounds> {
  const place = { organisationId: token.user_id, memberId: token.member_id, teamId: token.team_id }
  return withDatabaseTimeout(readBounds(db, place)).catch((cause: unknown) => fail('database_unavailable', {}, { cause }))
}

/** The models that both the token and its place allow; null for all. */
function modelsOf(token: Row<'tokens'>, bounds: Bounds | undefined): ReadonlySet<string> | null {
  const own = token.model_limits_enabled === 1 ? new Set(readModelList(token.model_limits)) : null
  const allowed = bounds?.models ?? null
  return own && allowed ? new Set([...own].filter((model) => allowed.has(model))) : (own ?? allowed)
}

/** The end of a token's life: its own, or that of the greatest age that its place allows. */
function latestTime({ expired_time, created_time }: Row<'tokens'>, bounds: Bounds | undefined): number {
  if (!bounds?.daysMax) return expired_time
  const latest = created_time + bounds.daysMax.max * daySeconds
  return expired_time === neverExpires ? latest : Math.min(expired_time, latest)
}

/** Throws `organisation_model_forbidden`, naming the place, or `token_model_forbidden` unless the caller may use the model. */
export function requireModel({ modelLimits, organisation }: RelayCaller, model: string): void {
  if (!modelLimits || modelLimits.has(model)) return
  const place = organisation?.forbidsModel(model)
  if (place) fail('organisation_model_forbidden', { model, place })
  fail('token_model_forbidden', { model })
}

const nobody: AddressList = { has: () => false }

/** A list that cannot be parsed allows no address. */
function readAllowedAddresses(text: string): AddressList | null {
  const read = readAddressList(text)
  if ('invalid' in read) return nobody
  return read.size === 0 ? null : read.list
}

/** Whether a user's settings allow models without a price, at the fallback ratio. */
export function readAcceptsUnpriced(setting: string): boolean {
  const value = readJson(setting)
  return isObject(value) && value.accept_unset_model_ratio_model === true
}
