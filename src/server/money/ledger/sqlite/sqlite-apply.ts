import type { DatabaseSync } from 'node:sqlite'
import { primaryCode } from '../../../base/db/sqlite-file.ts'
import type { Value } from '../rows.ts'
import { type Batch, type ChargeRow, logsOf, prepareCommit } from './sqlite-commit.ts'

/** What became of batches. */
export interface Applied {
  /** Tokens with a limit that have no quota left. */
  readonly exhausted: readonly number[]
  /** Requests that were charged before, and were not charged again. */
  readonly known: readonly string[]
  /** Log rows (`logValues`) that the database refused; their charges are written. */
  readonly unlogged: readonly (readonly Value[])[]
  /** Charges that the database refuses. */
  readonly refused: readonly ChargeRow[]
}

interface Steps {
  /** Called between statements, also inside of the transaction. */
  onPause(): void
  /** Makes refused entries durable again, before their batches count as applied. */
  keep(refused: Batch): void
}

/** Refused charges are tried again after this time. */
const retryMs = 5000

/**
 * Makes the function that writes batches of the journal into the tables, with `applied` as the number of the last. Requests that are
 * charged already are left out. A charge is money, its log row is information: when only the log row is refused, the charge is
 * written without it. Refused charges wait, and delay no others. Throws when the database cannot be written now; the next call with
 * the same batches continues.
 */
export function prepareApply(
  database: DatabaseSync,
  { onPause, keep }: Steps,
): (batches: readonly Batch[], applied: number) => Applied {
  const commit = prepareCommit(database, onPause)
  const charged = database.prepare("select 1 from ledger where reference = 'charge:' || ?")
  const isCharged = (requestId: string) => charged.get(requestId) !== undefined
  /** When the requests that the database refused are due again, in milliseconds. */
  let refusals: ReadonlyMap<string, number> = new Map()
  // They outlive an attempt that fails before its end, because the next one does not find them again.
  let exhausted: number[] = []
  let unlogged: (readonly Value[])[] = []

  /** False when the database refuses the batch. */
  const tryCommit = (batch: Batch, applied?: number) => {
    try {
      exhausted.push(...commit(batch, applied))
      return true
    } catch (error) {
      if (isUnavailable(error)) throw error
      return false
    }
  }

  const tryRequest = ({ batch }: RequestBatch) => {
    if (tryCommit(batch)) return true
    const logs = logsOf(batch.charges)
    if (logs.length === 0 || !tryCommit(withoutLogs(batch))) return false
    unlogged.push(...logs)
    return true
  }

  /** Returns what the database refuses. */
  const writeApart = (batch: Batch): RequestBatch[] => {
    const nowMs = performance.now()
    const requests = byRequest(batch)
    const isWaiting = ({ id }: RequestBatch) => (refusals.get(id) ?? 0) > nowMs
    const first = requests.filter(({ id }) => !refusals.has(id))
    const again = requests.filter((request) => refusals.has(request.id) && !isWaiting(request))
    const isWritten = tryCommit(merged(first.map((request) => request.batch)))
    const refused = [...(isWritten ? again : [...first, ...again])].filter((request) => !tryRequest(request))
    const waiting = requests.filter(isWaiting)
    refusals = new Map([
      ...waiting.map(({ id }): [string, number] => [id, refusals.get(id) ?? 0]),
      ...refused.map(({ id }): [string, number] => [id, nowMs + retryMs]),
    ])
    return [...waiting, ...refused]
  }

  return (batches, applied) => {
    let known: string[] = []
    let refused: RequestBatch[] = []
    if (refusals.size > 0 || !tryCommit(merged(batches), applied)) {
      const parts = withoutKnown(batches, isCharged)
      known = parts.known
      refused = writeApart(parts.fresh)
      if (refused.length > 0) keep(merged(refused.map(({ batch }) => batch)))
      commit(merged([]), applied)
    }
    const outcome = { exhausted, unlogged, known, refused: refused.flatMap(({ batch }) => batch.charges) }
    exhausted = []
    unlogged = []
    return outcome
  }
}

/**
 * BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOTADB: failures of the whole database. Every
 * other failure is attributed to the rows of the batch.
 */
const unavailableCodes = [5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 26]

function isUnavailable(error: unknown): boolean {
  return unavailableCodes.includes(primaryCode(error) ?? 0)
}

function merged(batches: readonly Batch[]): Batch {
  return {
    charges: batches.flatMap(({ charges }) => charges),
    siteCosts: batches.flatMap(({ siteCosts }) => siteCosts),
    checkpoints: batches.flatMap(({ checkpoints }) => checkpoints),
    ended: batches.flatMap(({ ended }) => ended),
    budgetCharges: batches.flatMap(({ budgetCharges }) => budgetCharges),
  }
}

/** Leaves out charges of requests that were charged before, in the tables or by an earlier one of the batches. */
function withoutKnown(batches: readonly Batch[], isCharged: (requestId: string) => boolean) {
  const seen = new Set<string>()
  const known: string[] = []
  const fresh = batches.map((batch) => {
    const left = new Set<string>()
    for (const [requestId] of batch.charges) {
      if (seen.has(requestId) || isCharged(requestId)) known.push(requestId)
      else left.add(requestId)
      seen.add(requestId)
    }
    const isLeft = ([requestId]: ChargeRow | readonly Value[]) => left.has(String(requestId))
    return {
      ...batch,
      charges: batch.charges.filter(isLeft),
      siteCosts: batch.siteCosts.filter(isLeft),
      budgetCharges: batch.budgetCharges.filter(isLeft),
    }
  })
  return { fresh: merged(fresh), known }
}

interface RequestBatch {
  readonly id: string
  readonly batch: Batch
}

/** A batch for each request. */
function byRequest({ charges, siteCosts, checkpoints, ended, budgetCharges }: Batch): RequestBatch[] {
  const parts = {
    charges: grouped(charges),
    siteCosts: grouped(siteCosts),
    checkpoints: grouped(checkpoints),
    budgetCharges: grouped(budgetCharges),
  }
  const isEnded = new Set(ended)
  const ids = new Set([...parts.charges.keys(), ...parts.checkpoints.keys(), ...ended])
  return [...ids].map((id) => {
    const batch = {
      charges: parts.charges.get(id) ?? [],
      siteCosts: parts.siteCosts.get(id) ?? [],
      checkpoints: parts.checkpoints.get(id) ?? [],
      ended: isEnded.has(id) ? [id] : [],
      budgetCharges: parts.budgetCharges.get(id) ?? [],
    }
    return { id, batch }
  })
}

/** The rows by request id, which is their first column. */
function grouped<Row extends ChargeRow | readonly Value[]>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const id = String(row[0])
    const group = groups.get(id)
    if (group) group.push(row)
    else groups.set(id, [row])
  }
  return groups
}

function withoutLogs(batch: Batch): Batch {
  const charges = batch.charges.map(([id, user, token, units, at, channel, tokens, name, model, group]): ChargeRow => {
    return [id, user, token, units, at, channel, tokens, name, model, group, null]
  })
  return { ...batch, charges }
}
