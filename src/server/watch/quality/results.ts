import { type QualityOutcome, type QualityResult, qualityResult } from '../../../contract/entities/quality-check.ts'
import { type PageOf, readPage } from '../../base/db/page.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'

/** Results of quality checks at rest: the beginning of each answer is sealed, as recordings of calls are. */

/** The greatest stored part of an answer. */
const answerBytesMax = 16 * 1024
const removedAtOnce = 1000
const daySeconds = 86_400

/** Identifies an answer. */
interface ResultKey {
  readonly check_id: number
  readonly run_at: number
  readonly channel_id: number
  readonly model: string
  readonly sample: number
}

interface ResultFilter {
  readonly checkId: number
  /** 0, '' and undefined mean all. */
  readonly channel: number
  readonly model: string
  readonly outcome: QualityOutcome | undefined
}

export interface NewResult extends ResultKey, Pick<QualityResult, 'outcome' | 'faults' | 'error' | 'ms' | 'cost'> {
  readonly revision: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly answer: string
}

/** Writes a result once. */
export async function writeResult(core: Core, { answer, faults, ...result }: NewResult): Promise<void> {
  await core.db
    .insertInto('quality_results')
    .values({
      ...result,
      created_at: seconds(core.now()),
      faults: JSON.stringify(faults),
      answer_sealed: answer === '' ? '' : core.secrets.seal(keptPart(answer), placeOf(result)),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function listResults(
  { db }: Core,
  { checkId, channel, model, outcome, page }: ResultFilter & { readonly page: PageOf },
): Promise<{ items: QualityResult[]; total: number }> {
  const matching = db
    .selectFrom('quality_results')
    .leftJoin('channels', 'channels.id', 'quality_results.channel_id')
    .selectAll('quality_results')
    .select('channels.name')
    .where('check_id', '=', checkId)
    .$if(channel > 0, (query) => query.where('channel_id', '=', channel))
    .$if(model !== '', (query) => query.where('model', '=', model))
    .$if(outcome !== undefined, (query) => query.where('outcome', '=', outcome ?? ''))
    .orderBy('quality_results.created_at', 'desc')
    .orderBy('quality_results.id', 'desc')
  const { rows, total } = await readPage(matching, page)
  const items = rows.map(({ name, faults, ...row }) =>
    qualityResult.parse({ ...row, channel_name: name ?? '', faults: JSON.parse(faults) }),
  )
  return { items, total }
}

/** Throws `not_found`. */
export async function readResultAnswer(core: Core, id: number): Promise<{ answer: string; is_cut: boolean }> {
  const row = await core.db.selectFrom('quality_results').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row) return fail('not_found')
  const answer = row.answer_sealed === '' ? '' : core.secrets.open(row.answer_sealed, placeOf(row))
  return { answer, is_cut: Buffer.byteLength(answer) >= answerBytesMax - 3 }
}

/** Deletes results beyond their retention, and those of checks that were deleted while they ran. Returns their number. */
export async function purgeResults({ db, now, options }: Core, signal: AbortSignal): Promise<number> {
  const before = seconds(now()) - options.current.QualityCheckRetentionDays * daySeconds
  let removed = 0
  for (let last = removedAtOnce; last === removedAtOnce && !signal.aborted; removed += last) {
    const old = db
      .selectFrom('quality_results')
      .select('id')
      .where((row) =>
        row.or([row('created_at', '<', before), row('check_id', 'not in', row.selectFrom('quality_checks').select('id'))]),
      )
      .limit(removedAtOnce)
    const { numDeletedRows } = await db.deleteFrom('quality_results').where('id', 'in', old).executeTakeFirstOrThrow()
    last = Number(numDeletedRows)
  }
  return removed
}

/** The beginning of a text, not cut inside of a character. */
function keptPart(text: string): string {
  const bytes = Buffer.from(text)
  return bytes.length <= answerBytesMax
    ? text
    : bytes
        .subarray(0, answerBytesMax)
        .toString()
        .replace(/\uFFFD$/, '')
}

function placeOf({ check_id, run_at, channel_id, model, sample }: ResultKey) {
  const row = [check_id, run_at, channel_id, model, sample].join('/')
  return { table: 'quality_results', column: 'answer', row }
}
