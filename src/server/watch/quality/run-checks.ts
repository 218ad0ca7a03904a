import { sql } from 'kysely'
import { logType } from '../../../contract/entities/log.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { App } from '../parts.ts'
import { shownAnswer } from './answer.ts'
import { type Asked, askChannel } from './ask-channel.ts'
import { type SavedCheck, savedCheck } from './checks.ts'
import { faultsOf } from './judge.ts'
import { type NewResult, writeResult } from './results.ts'
import { baselineRunsMax, type RunScore, standingOf } from './standing.ts'
import { type Target, targetsOf } from './targets.ts'

/** Greatest number of concurrent calls, over all checks. */
const atOnce = 4
const minuteSeconds = 60

interface Run {
  readonly check: SavedCheck
  readonly runAt: number
  readonly targets: readonly Target[]
  /** Calls that were not made, by the reason. */
  readonly skipped: string[]
}

interface Question {
  readonly run: Run
  readonly target: Target
  readonly sample: number
}

/**
 * Runs every check that is due or requested by an admin, until there is none. An interrupted run continues with the missing
 * answers. Only one node may do it at a time. Throws when aborted.
 */
export async function runChecks(app: App, signal: AbortSignal, tell: (detail: string) => void): Promise<string> {
  let [checks, answers] = [0, 0]
  for (let runs = await beginRuns(app); runs.length > 0; runs = await beginRuns(app)) {
    const waiting = (await Promise.all(runs.map((run) => questionsOf(app, run)))).flat()
    const total = answers + waiting.length
    const work = async () => {
      for (let question = waiting.shift(); question; question = waiting.shift()) {
        signal.throwIfAborted()
        await answer(app, question, signal)
        tell(`${++answers} of ${total} answers`)
      }
    }
    // After a failure the running calls are awaited, and no further call begins.
    const ended = await Promise.allSettled(Array.from({ length: atOnce }, () => work().finally(() => waiting.splice(0))))
    for (const one of ended) if (one.status === 'rejected') throw one.reason
    for (const run of runs) await finish(app, run)
    checks += runs.length
  }
  return `${checks} checks, ${answers} answers`
}

/** The runs to execute now, including interrupted ones. */
async function beginRuns(app: App): Promise<Run[]> {
  const now = seconds(app.now())
  await app.db
    .updateTable('quality_checks')
    .set({ is_requested: 0, run_at: sql<number>`case when last_run_at >= ${now} then last_run_at + 1 else ${now} end` })
    .where('run_at', '=', 0)
    .where((row) => row.or([row('is_requested', '=', 1), row.and([row('enabled', '=', 1), row('next_run_at', '<=', now)])]))
    .execute()
  const rows = await app.db.selectFrom('quality_checks').selectAll().where('run_at', '>', 0).orderBy('id').execute()
  return rows.map((row) => {
    const check = savedCheck(row)
    return { check, runAt: row.run_at, targets: targetsOf(app.channels.current, check), skipped: [] }
  })
}

/** The prompts that the run still has to send: the first to every channel before the second to any. */
async function questionsOf({ db }: App, run: Run): Promise<Question[]> {
  const rows = await db
    .selectFrom('quality_results')
    .select(['channel_id', 'model', 'sample'])
    .where('check_id', '=', run.check.id)
    .where('run_at', '=', run.runAt)
    .execute()
  const done = new Set(rows.map(({ channel_id, model, sample }) => `${channel_id}/${sample}/${model}`))
  return Array.from({ length: run.check.samples }, (_, sample) =>
    run.targets
      .filter(({ channelId, model }) => !done.has(`${channelId}/${sample}/${model}`))
      .map((target) => ({ run, target, sample })),
  ).flat()
}

async function answer(app: App, { run, target, sample }: Question, signal: AbortSignal): Promise<void> {
  const { check, runAt } = run
  const asked = await askChannel(app, check, target, signal)
  if (asked.outcome === 'skipped') {
    run.skipped.push(asked.code)
    return
  }
  const key = { check_id: check.id, run_at: runAt, channel_id: target.channelId, model: target.model, sample }
  const result = { ...key, revision: check.revision, ...judged(check, asked) }
  await writeResult(app, result)
  if (app.options.current.LogConsumeEnabled) await writeLog(app, check, result)
}

function judged(check: SavedCheck, asked: Exclude<Asked, { outcome: 'skipped' }>) {
  const { ms, cost } = asked
  if (asked.outcome === 'error') {
    const none = { faults: [], input_tokens: 0, output_tokens: 0, answer: '' }
    return { outcome: 'error' as const, error: asked.message.slice(0, 500), ms, cost, ...none }
  }
  const faults = faultsOf(check.expectations, asked.answer)
  return {
    outcome: faults.length === 0 ? ('passed' as const) : ('failed' as const),
    ...{ faults, error: '', ms, cost },
    input_tokens: asked.answer.inputTokens,
    output_tokens: asked.answer.outputTokens,
    answer: shownAnswer(asked.answer),
  }
}

/** Writes a log row without an owner, which is not part of any statistics. */
async function writeLog(app: App, check: SavedCheck, result: NewResult): Promise<void> {
  const site_cost = { amount: result.cost, reason: 'quality_check' }
  const say = { passed: ['通过', 'passed'], failed: ['未通过', 'failed'], error: ['无回答', 'no answer'] }[result.outcome]
  await app.db
    .insertInto('logs')
    .values({
      ...{ type: logType.system, user_id: 0, username: '', created_at: seconds(app.now()) },
      content: `质量检查“${check.name}”${say[0]} / Quality check “${check.name}” ${say[1]}`,
      model_name: result.model,
      channel_id: result.channel_id,
      prompt_tokens: result.input_tokens,
      completion_tokens: result.output_tokens,
      use_time: Math.round(result.ms / 1000),
      other: JSON.stringify({ use_time_ms: result.ms, admin_info: { use_channel: [String(result.channel_id)], site_cost } }),
    })
    .execute()
}

/** Ends a run: stores the state of its channels and the time of the next run. A check that was changed meanwhile is not updated. */
async function finish(app: App, run: Run): Promise<void> {
  const { check, runAt, targets, skipped } = run
  const scored = await Promise.all(targets.map(async (target) => ({ target, runs: await readRuns(app, check, target) })))
  await app.db.transaction().execute(async (within) => {
    const ended = await within
      .updateTable('quality_checks')
      .set({
        ...{ run_at: 0, last_run_at: runAt, next_run_at: runAt + check.interval_minutes * minuteSeconds },
        ...{ last_skipped: skipped.length, last_skip_code: skipped.at(-1) ?? '' },
      })
      .where('id', '=', check.id)
      .where('run_at', '=', runAt)
      .returning('id')
      .executeTakeFirst()
    if (!ended) return
    await within.deleteFrom('quality_standings').where('check_id', '=', check.id).execute()
    const rows = scored.flatMap(({ target, runs }) => standingRows(check, target, runs))
    if (rows.length > 0) await within.insertInto('quality_standings').values(rows).execute()
  })
}

function standingRows(check: SavedCheck, { channelId, model }: Target, runs: readonly RunScore[]) {
  const [last] = runs
  if (!last) return []
  const { passed, total, run_at } = last
  const standing = standingOf(runs, check)
  return [{ check_id: check.id, channel_id: channelId, model, ...standing, runs: runs.length, passed, total, run_at }]
}

/** The scores of the runs, newest first. */
async function readRuns({ db }: App, { id, revision, window_runs }: SavedCheck, target: Target): Promise<RunScore[]> {
  const rows = await db
    .selectFrom('quality_results')
    .select('run_at')
    .select(({ fn }) => [
      fn.countAll<number>().as('total'),
      fn.sum<number>(sql<number>`case when outcome = 'passed' then 1 else 0 end`).as('passed'),
    ])
    .where('check_id', '=', id)
    .where('channel_id', '=', target.channelId)
    .where('model', '=', target.model)
    .where('revision', '=', revision)
    .groupBy('run_at')
    .orderBy('run_at', 'desc')
    .limit(window_runs + baselineRunsMax)
    .execute()
  return rows.map(({ run_at, total, passed }) => ({ run_at, total: Number(total), passed: Number(passed) }))
}
