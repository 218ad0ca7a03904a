import { sql, type Updateable } from 'kysely'
import {
  type ListedToken,
  neverExpires,
  type Token,
  type TokenInput,
  type TokenSort,
  tokenStatus,
} from '../../../contract/entities/token.ts'
import type { SortBy } from '../../../contract/envelope.ts'
import { locked } from '../../base/db/locked.ts'
import type { Queries, Within } from '../../base/db/open.ts'
import { containsText, endless, inOrder, type PageOf, readPage } from '../../base/db/page.ts'
import type { Row, Tables } from '../../base/db/schema.ts'
import { type CsvColumn, csvFile } from '../../base/lib/bytes/csv.ts'
import { fail } from '../../base/lib/failure.ts'
import { newTokenKey } from '../../base/lib/secrets/ids.ts'
import { sha256 } from '../../base/lib/secrets/secrets.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change, type Report } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { findUserFor } from '../accounts/find-users.ts'
import { type Reach, tokensWithin } from '../organisations/membership.ts'
import { notePlace } from '../organisations/teams.ts'
import { readInput } from './input.ts'
import { type PlaceInOrganisation, requirePlace } from './place.ts'
import { isExhausted, isExpired, statusNow } from './state.ts'

/**
 * The access tokens (`sk-` keys) of users: their owners' view and changes, and what admins see. Every function takes the owner's id
 * and works on rows of that owner alone, so that the id of another user's token is treated like a missing one. Every change is
 * published after its commit. Not here: authentication of relay calls (authenticate.ts), and the usage of a token
 * (money/ledger/ledger.ts).
 */
type TokenRow = Row<'tokens'>
type Change = Updateable<Tables['tokens']>

/** Whether the owner may use a group. */
export type GroupCheck = (group: string) => boolean

/** The most rows that one search reads: keys are encrypted, so a part of one is only found by decrypting each. */
const searchedRowsMax = 1000
const keyLength = 48

interface Sorted {
  /** Newest first when absent. */
  readonly sort?: SortBy<TokenSort> | undefined
}

const ends = {
  remain_quota: endless('tokens.remain_quota', sql`tokens.unlimited_quota = 1`),
  expired_time: endless('tokens.expired_time', sql`tokens.expired_time = ${sql.lit(neverExpires)}`),
}

/** A page of the owner's tokens, and the number of all. */
export async function listTokens(core: Core, { page, sort, ...owner }: Sorted & TokenOwner & { page: PageOf }) {
  const owned = ownTokens(core.db, owner).selectAll()
  const { rows, total } = await readPage(inOrder(owned, 'tokens', sort, ends), page)
  return { items: rows.map((row) => presentToken(core, row, owner.reach)), total }
}

/** A page of another user's tokens, without their keys. Throws `not_found`, and `user_protected` for a user whom the caller may not change. */
export async function listTokensOf(
  core: Core,
  { caller, userId, page }: { caller: Caller; userId: number; page: PageOf },
): Promise<{ items: ListedToken[]; total: number }> {
  await findUserFor(core, caller, userId)
  const owned = ownTokens(core.db, { userId }).selectAll()
  const { rows, total } = await readPage(owned.orderBy('id', 'desc'), page)
  return { items: rows.map((row) => presentListed(core, row)), total }
}

/** Whose tokens: those of an account, of an organisation only what is in reach of its member. */
interface TokenOwner {
  readonly userId: number
  readonly reach?: Reach | undefined
}

const nothing: Reach = { memberId: 0, isAll: false, teamIds: [] }

export interface TokenSearch extends TokenOwner {
  /** Part of the name, in any case. */
  readonly keyword: string
  /** The key or part of it, with or without `sk-`. */
  readonly key: string
  /** '' for any. */
  readonly group: string
  /** The shown status; 0 for any. */
  readonly status: number
}

/** The owner's tokens that match, among the first 1,000 in this order that match by name and group. */
export async function searchTokens(core: Core, { sort, ...search }: Sorted & TokenSearch): Promise<Token[]> {
  const { found, keep } = matching(core, search)
  const rows = await inOrder(found, 'tokens', sort, ends).limit(searchedRowsMax).execute()
  return rows.filter(keep).map((row) => presentToken(core, row, search.reach))
}

const columns: readonly CsvColumn<TokenRow>[] = [
  ...(['id', 'name', 'status', 'group', 'used_quota', 'remain_quota', 'unlimited_quota'] as const),
  { name: 'created', time: (token) => token.created_time },
  { name: 'accessed', time: (token) => token.accessed_time },
  { name: 'expires', time: (token) => token.expired_time },
  ...(['model_limits', 'allow_ips'] as const),
]

/** All of the owner's tokens that match, as CSV. Keys are never among it. */
export function exportTokens(core: Core, { search, timeZone }: { search: TokenSearch; timeZone: string }) {
  const { found, keep } = matching(core, search)
  const now = seconds(core.now())
  return csvFile({
    columns,
    timeZone,
    keep,
    read: async (below, limit) => {
      const rows = await found.where('id', '<', below).orderBy('id', 'desc').limit(limit).execute()
      return rows.map((row) => ({ ...row, status: statusNow(row, now) }))
    },
  })
}

/** The matching rows by SQL, and a filter for the rest: the current status and parts of keys are known only after a row is read. */
function matching(core: Core, search: TokenSearch) {
  const key = search.key.replace(/^sk-/, '')
  const wholeKey = key.length >= keyLength
  const found = ownTokens(core.db, search)
    .selectAll()
    .$if(search.keyword !== '', (query) => query.where(containsText('name', search.keyword)))
    .$if(search.group !== '', (query) => query.where('group', '=', search.group))
    .$if(wholeKey, (query) => query.where('key_hash', '=', sha256(key)))

  const now = seconds(core.now())
  const keep = (row: TokenRow) =>
    (search.status === 0 || statusNow(row, now) === search.status) &&
    (wholeKey || key === '' || (showsKey(row, search.reach) && openKey(core, row).includes(key)))
  return { found, keep }
}

/** The ids of tokens within reach, deleted ones included, whose calls stay in the log; never none, so that none is not all. */
export async function tokensInReach(db: Queries, { userId, reach = nothing }: TokenOwner): Promise<number[]> {
  const rows = await db.selectFrom('tokens').select('id').where('user_id', '=', userId).where(tokensWithin(reach)).execute()
  return [-1, ...rows.map(({ id }) => id)]
}

/** Throws `not_found`. */
export async function findToken(core: Core, { id, ...owner }: TokenOwner & { id: number }): Promise<Token> {
  const row = await ownTokens(core.db, owner).selectAll().where('id', '=', id).executeTakeFirst()
  return presentToken(core, row ?? fail('not_found'), owner.reach)
}

/** Throws `token_name_required`, `group_forbidden`, `address_list_invalid` or `field_invalid`. */
export async function createToken(
  core: Core,
  {
    userId,
    input,
    mayUse,
    within: place,
  }: { userId: number; input: TokenInput; mayUse: GroupCheck; within?: PlaceInOrganisation },
): Promise<Token> {
  if (!mayUse(input.group)) fail('group_forbidden', { group: input.group })
  return change(core, undefined, async (within, report) => {
    if (place) await requirePlace(core, within, { place, input })
    return addToken(core, within, report, { userId, input, ...(place ? { place } : {}) })
  })
}

/** Adds a token in the caller's transaction. Whether its owner may use the group is for the caller to check. Throws as `readInput`. */
export async function addToken(
  core: Core,
  within: Within,
  report: Report,
  { userId, input, place }: { userId: number; input: TokenInput; place?: PlaceInOrganisation },
): Promise<Token> {
  const values = { ...readInput(input), ...(place ? { member_id: place.memberId, team_id: place.teamId } : {}) }
  const key = newTokenKey()
  const now = seconds(core.now())
  // The ciphertext is bound to the row's id, which exists only after the insert.
  const { id } = await within
    .insertInto('tokens')
    .values({ ...values, user_id: userId, key_hash: sha256(key), key_sealed: '', created_time: now, accessed_time: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  const key_sealed = core.secrets.seal(key, keyPlace(id))
  report({ topic: 'token', id })
  if (place) await notePlace(within, { id, member_id: place.memberId, team_id: place.teamId, at: now })
  const row = await within.updateTable('tokens').set({ key_sealed }).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
  return presentToken(core, row, place?.reach)
}

interface TokenEdit extends TokenOwner {
  readonly id: number
  /** All fields: absent ones get their default, except limits and strictness, which stay unchanged. */
  readonly input: TokenInput
  /** Undefined leaves the status unchanged. */
  readonly status: number | undefined
  readonly mayUse: GroupCheck
}

/**
 * Writes all fields that an owner may set. `remain_quota` becomes the given amount; holds and usage are untouched. A token that is no
 * longer expired or exhausted is enabled again. An unchanged group is not checked again: the relay does so at each use. Throws
 * `not_found`, `token_not_enableable` and what `createToken` throws.
 */
export async function editToken(core: Core, { id, input, status, mayUse, ...owner }: TokenEdit): Promise<Token> {
  const values = readInput(input)
  return changeToken(core, { ...owner, id }, (before) => {
    if (values.group !== before.group && !mayUse(values.group)) fail('group_forbidden', { group: values.group })
    return { ...values, status: statusAfter(core, before, { ...before, ...values }, status) }
  })
}

/** Enables or disables. Throws `not_found` or `token_not_enableable`. */
export function setTokenStatus(core: Core, { status, ...asked }: TokenOwner & { id: number; status: number }): Promise<Token> {
  return changeToken(core, asked, (before) => ({ status: statusAfter(core, before, before, status) }))
}

/** Throws `not_found`, also for a token that is deleted already. */
export async function deleteToken(core: Core, asked: TokenOwner & { id: number }): Promise<void> {
  await changeToken(core, asked, () => ({ deleted_at: seconds(core.now()) }))
}

type BatchAction = 'enable' | 'disable' | 'delete'

/** Changes the tokens in `ids` that belong to the owner and allow the change; returns how many changed. */
export async function changeTokens(
  core: Core,
  { userId, reach, ids, action }: TokenOwner & { ids: readonly number[]; action: BatchAction },
): Promise<number> {
  const now = seconds(core.now())
  return change(core, undefined, async (within, report) => {
    const changed = await within
      .updateTable('tokens')
      .set(
        action === 'delete' ? { deleted_at: now } : { status: action === 'enable' ? tokenStatus.enabled : tokenStatus.disabled },
      )
      .where('id', 'in', locked(core, within.selectFrom('tokens').select('id').where('id', 'in', ids).orderBy('id')))
      .where('user_id', '=', userId)
      .where('deleted_at', 'is', null)
      .$if(reach !== undefined, (query) => query.where(tokensWithin(reach ?? nothing)))
      .$if(action === 'disable', (query) => query.where('status', '<>', tokenStatus.disabled))
      .$if(action === 'enable', (query) =>
        query
          .where('status', '<>', tokenStatus.enabled)
          .where((eb) => eb.or([eb('expired_time', '=', neverExpires), eb('expired_time', '>=', now)]))
          .where((eb) => eb.or([eb('unlimited_quota', '=', 1), eb('remain_quota', '>', 0)])),
      )
      .returning('id')
      .execute()
    for (const { id } of changed) report({ topic: 'token', id })
    return changed.length
  })
}

/** The token as its owner sees it, with the key in clear. */
function presentToken(core: Core, row: TokenRow, reach?: Reach): Token {
  return { ...presentListed(core, row), key: showsKey(row, reach) ? openKey(core, row) : '', allow_ips: row.allow_ips }
}

/** The key of a member's token is the member's: whoever manages the token does not call with it. */
function showsKey({ member_id }: TokenRow, reach: Reach | undefined): boolean {
  return reach === undefined || member_id === 0 || member_id === reach.memberId
}

function presentListed(core: Core, row: TokenRow): ListedToken {
  const { key_hash: _hash, key_sealed: _sealed, held: _held, deleted_at: _deleted, allow_ips: _addresses, ...all } = row
  const { member_id, team_id, ...shown } = all
  return {
    ...shown,
    ...(member_id === 0 ? {} : { member_id }),
    ...(team_id === 0 ? {} : { team_id }),
    status: statusNow(row, seconds(core.now())),
    unlimited_quota: row.unlimited_quota === 1,
    model_limits_enabled: row.model_limits_enabled === 1,
    strict_translation: row.strict_translation === 1,
    refuse_hosted_tools: row.refuse_hosted_tools === 1,
    resumable: row.resumable === 1,
    DeletedAt: null,
  }
}

function openKey(core: Core, row: TokenRow): string {
  return core.secrets.open(row.key_sealed, keyPlace(row.id))
}

export function keyPlace(id: number) {
  return { table: 'tokens', column: 'key_sealed', row: id }
}

function ownTokens(db: Queries, { userId, reach }: TokenOwner) {
  return db
    .selectFrom('tokens')
    .where('user_id', '=', userId)
    .where('deleted_at', 'is', null)
    .$if(reach !== undefined, (query) => query.where(tokensWithin(reach ?? nothing)))
}

async function changeToken(
  core: Core,
  { id, ...owner }: TokenOwner & { id: number },
  changesOf: (before: TokenRow) => Change,
): Promise<Token> {
  const row = await change(core, undefined, async (within, report) => {
    const before = await locked(core, ownTokens(within, owner).selectAll().where('id', '=', id)).executeTakeFirst()
    const changes = changesOf(before ?? fail('not_found'))
    report({ topic: 'token', id })
    return within.updateTable('tokens').set(changes).where('id', '=', id).returningAll().executeTakeFirstOrThrow()
  })
  return presentToken(core, row, owner.reach)
}

/** The status to store. Keeping a token enabled while its quota is set to 0 is allowed; enabling an unusable one is not. */
function statusAfter(core: Core, before: TokenRow, after: TokenRow, wanted: number | undefined): number {
  const now = seconds(core.now())
  const spendable = !isExpired(after, now) && !isExhausted(after)
  if (wanted === tokenStatus.enabled && !spendable && statusNow(before, now) !== tokenStatus.enabled) fail('token_not_enableable')
  if (wanted !== undefined) return wanted
  return spendable && before.status !== tokenStatus.disabled ? tokenStatus.enabled : before.status
}
