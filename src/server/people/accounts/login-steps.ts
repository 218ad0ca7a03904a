import type { Queries } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { sha256 } from '../../base/lib/secrets/secrets.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'

/**
 * Pending steps of a login or reauthentication. A step is stored in the database for some minutes, bound to the browser or session that
 * began it; it is consumed once, on any node. The database holds hashes of the tokens, never the tokens.
 */
export type StepKind = 'state' | 'second' | 'passkey-login' | 'passkey-add' | 'passkey-verify'

interface StepName {
  readonly kind: StepKind
  /** The secret of the client: the state of an authorization, or the token of the browser or session. */
  readonly token: string
}

interface NewStep extends StepName {
  /** The token of the browser or session that may continue. */
  readonly boundTo: string
  readonly userId: number
  readonly detail: Readonly<Record<string, string>>
  readonly minutes: number
}

export interface Step {
  readonly userId: number
  readonly detail: Readonly<Record<string, string>>
}

const guessesMax = 5

/** Stores a step and replaces an earlier one of the same name. */
export async function storeStep(core: Core, { boundTo, userId, detail, minutes, ...name }: NewStep): Promise<void> {
  const key = keyOf(name)
  const row = {
    bound_to: sha256(boundTo),
    user_id: userId,
    detail_sealed: core.secrets.seal(JSON.stringify(detail), placeOf(key)),
    expires_at: seconds(core.now()) + minutes * 60,
    guesses: 0,
  }
  await core.db
    .insertInto('login_steps')
    .values({ key, ...row })
    .onConflict((conflict) => conflict.column('key').doUpdateSet(row))
    .execute()
}

/** Deletes and returns a step, atomically over all nodes. Undefined for another holder and for an expired step. */
export async function consumeStep(core: Core, name: StepName, holders: readonly string[]): Promise<Step | undefined> {
  if (holders.length === 0) return undefined
  const key = keyOf(name)
  const row = await core.db
    .deleteFrom('login_steps')
    .where('key', '=', key)
    .where('bound_to', 'in', holders.map(sha256))
    .where('expires_at', '>', seconds(core.now()))
    .returningAll()
    .executeTakeFirst()
  return row && stepOf(core, row)
}

/** Reads a step for one guess, and counts the guess first. Undefined after too many guesses. */
export async function tryStep(core: Core, name: StepName): Promise<Step | undefined> {
  const row = await core.db
    .updateTable('login_steps')
    .set((column) => ({ guesses: column('guesses', '+', 1) }))
    .where('key', '=', keyOf(name))
    .where('expires_at', '>', seconds(core.now()))
    .where('guesses', '<', guessesMax)
    .returningAll()
    .executeTakeFirst()
  return row && stepOf(core, row)
}

/** Marks a one-time value as used. Returns false when it was used before. */
export async function markUsed(core: Core, { what, minutes }: { what: string; minutes: number }): Promise<boolean> {
  const key = `used:${sha256(what)}`
  const row = { bound_to: '', user_id: 0, detail_sealed: '', expires_at: seconds(core.now()) + minutes * 60 }
  const made = await core.db
    .insertInto('login_steps')
    .values({ key, ...row })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .returning('key')
    .executeTakeFirst()
  return made !== undefined
}

/** Deletes all steps of a user. */
export async function deleteSteps(within: Queries, userId: number): Promise<void> {
  await within.deleteFrom('login_steps').where('user_id', '=', userId).execute()
}

/** Deletes expired steps. */
export async function purgeLoginSteps(core: Core): Promise<void> {
  await core.db.deleteFrom('login_steps').where('expires_at', '<', seconds(core.now())).execute()
}

function stepOf({ secrets }: Core, row: Row<'login_steps'>): Step {
  // Only `storeStep` seals details, and it seals this type.
  const detail = JSON.parse(secrets.open(row.detail_sealed, placeOf(row.key))) as Step['detail']
  return { userId: row.user_id, detail }
}

function keyOf({ kind, token }: StepName): string {
  return `${kind}:${sha256(token)}`
}

function placeOf(key: string) {
  return { table: 'login_steps', column: 'detail_sealed', row: key }
}
