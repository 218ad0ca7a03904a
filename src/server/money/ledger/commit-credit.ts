import type { ErrorCode } from '../../../contract/errors.ts'
import { isContention } from '../../base/db/contention.ts'
import { locked } from '../../base/db/locked.ts'
import { AppError, fail } from '../../base/lib/failure.ts'
import { type Changed, changeWithin, publishChanges, type Step } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'

/** The result of a transaction that credits a balance: the reference of its ledger row, '' when it credited nothing. */
interface Credited {
  readonly userId: number
  readonly reference: string
}

interface Messages {
  /** The transaction was certainly not committed: nothing changed, and the caller may try again. */
  readonly undone: ErrorCode
  /** The database does not say whether the transaction was committed. */
  readonly unclear: ErrorCode
}

/** For credits without an external reference: repeating one would credit twice. */
export const unsafeToRepeat: Messages = { undone: 'quota_unchanged', unclear: 'quota_change_unclear' }

/**
 * A change that credits a balance (`base/options/change.ts`). When the connection is lost during COMMIT, its outcome is unknown; then the
 * ledger reference is looked up once on another connection, and the ledger decides. Throws `undone` when the ledger has no such row,
 * `unclear` when the ledger cannot be read; failures of `step` itself pass through, because then nothing was committed.
 */
export async function commitCredit<Result extends Credited>(
  core: Core,
  caller: Caller,
  { undone, unclear }: Messages,
  step: Step<Result>,
): Promise<Result> {
  let finished: Changed<Result> | undefined
  try {
    finished = await core.db.transaction().execute(async (within) => {
      finished = undefined
      finished = await changeWithin(core, within, caller, step)
      return finished
    })
  } catch (error) {
    if (finished === undefined || finished.result.reference === '' || isRolledBack(error)) throw error
    const { result } = finished
    const isCommitted = await findCredit(core, result).catch((cause: unknown) => fail(unclear, {}, { cause }))
    core.logger.warn({ error, reference: result.reference, isCommitted }, 'a commit had no answer, and the ledger was asked')
    if (!isCommitted) fail(undone, {}, { cause: error })
  }
  publishChanges(core, finished.changes)
  return finished.result
}

/** The database itself reported that it aborted the transaction. */
function isRolledBack(error: unknown): boolean {
  return isContention(error) || (error instanceof AppError && isContention(error.cause))
}

/**
 * Whether the ledger has the row of this credit. Every credit writes the row of its user: locking that row first waits until a lost
 * transaction has ended, so that "no" stays true.
 */
function findCredit({ db, database }: Core, { userId, reference }: Credited): Promise<boolean> {
  return db.transaction().execute(async (within) => {
    await locked({ database }, within.selectFrom('users').select('id').where('id', '=', userId)).execute()
    const row = await within
      .selectFrom('ledger')
      .select('id')
      .where('reference', '=', reference)
      .where('user_id', '=', userId)
      .executeTakeFirst()
    return row !== undefined
  })
}
