import {
  type OwnRecording,
  type RecordingKind,
  type RecordingRule,
  type RecordingRuleInput,
  recordingDaysMax,
  recordingKinds,
} from '../../../contract/entities/recording.ts'
import type { Queries, Within } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { Snapshot } from '../../base/lib/collections/snapshot.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'

/** Which calls are recorded: the stored rules, and their compiled form for the check of relay calls. */

const daySeconds = 86_400

type RuleRow = Row<'recording_rules'>
type Term = Pick<RuleRow, 'until' | 'per_mille'>

/** The rules that have not ended, ready to be looked up. */
interface CompiledRules {
  readonly of: Readonly<Record<RecordingKind, ReadonlyMap<number, Term>>>
  readonly hasChannels: boolean
  /** Unix seconds of the end of the last rule. */
  readonly until: number
}

/** The caller, as far as the rules need it. */
interface RecordedCaller {
  readonly userId: number
  readonly tokenId: number
}

/** The compiled rules of this process, which follow every change on every node. */
export class RecordingRules {
  /** Whether any rule is in force: the only check of a call while there are no rules. */
  areOn = false
  readonly #now: Core['now']
  readonly #rules: Snapshot<CompiledRules>
  readonly #off: () => void

  constructor({ db, now, bus, logger }: Pick<Core, 'db' | 'now' | 'bus' | 'logger'>) {
    this.#now = now
    this.#rules = new Snapshot(async () => {
      const rules = await loadRules(db, seconds(now()))
      this.areOn = rules.until > 0
      return rules
    })
    this.#off = bus.on('recordings', () =>
      this.#rules.follow((error) => logger.error({ error }, 'the rules of recordings were not loaded')),
    )
  }

  /** Resolves when all changes before this call are in force in this process. */
  async refresh(): Promise<void> {
    await this.#rules.refresh()
  }

  close(): void {
    this.#off()
    this.#rules.close()
  }

  /** Whether a call is recorded from its beginning, or may be recorded once it reaches a channel. Call it only while `areOn`. */
  ruleOf({ userId, tokenId }: RecordedCaller): 'record' | 'watch' | undefined {
    const { of, hasChannels, until } = this.#rules.current
    if (seconds(this.#now()) >= until) {
      this.areOn = false
      return undefined
    }
    if (this.#holds(of.token.get(tokenId)) || this.#holds(of.user.get(userId)) || this.#holds(of.share.get(0))) return 'record'
    return hasChannels ? 'watch' : undefined
  }

  /** Whether this call to a channel is recorded. */
  recordsChannel(id: number): boolean {
    return this.#holds(this.#rules.current.of.channel.get(id))
  }

  #holds(term: Term | undefined): boolean {
    return term !== undefined && seconds(this.#now()) < term.until && Math.random() * 1000 < term.per_mille
  }
}

async function loadRules(db: Queries, now: number): Promise<CompiledRules> {
  const rows = await rulesInForce(db, now)
  const termsOf = (kind: RecordingKind) =>
    new Map(rows.filter((row) => row.kind === kind).map(({ target, until, per_mille }) => [target, { until, per_mille }]))
  const of = { token: termsOf('token'), user: termsOf('user'), channel: termsOf('channel'), share: termsOf('share') }
  return { of, hasChannels: of.channel.size > 0, until: Math.max(0, ...rows.map(({ until }) => until)) }
}

function rulesInForce(db: Queries, now: number): Promise<RuleRow[]> {
  return db.selectFrom('recording_rules').selectAll().where('until', '>', now).orderBy('kind').orderBy('target').execute()
}

/** The rules in force, with the names of the users, tokens and channels that they record. */
export async function listRecordingRules({ db, now }: Pick<Core, 'db' | 'now'>): Promise<RecordingRule[]> {
  const rows = await rulesInForce(db, seconds(now()))
  const idsOf = (wanted: RecordingKind) => rows.filter(({ kind }) => kind === wanted).map(({ target }) => target)
  const [tokens, users, channels] = await Promise.all([
    db
      .selectFrom('tokens')
      .select(['id', 'name'])
      .where('id', 'in', [0, ...idsOf('token')])
      .execute(),
    db
      .selectFrom('users')
      .select(['id', 'username as name'])
      .where('id', 'in', [0, ...idsOf('user')])
      .execute(),
    db
      .selectFrom('channels')
      .select(['id', 'name'])
      .where('id', 'in', [0, ...idsOf('channel')])
      .execute(),
  ])
  const named = { token: tokens, user: users, channel: channels, share: [] }
  return rows.flatMap(({ kind: stored, ...row }) => {
    const kind = recordingKinds.find((known) => known === stored)
    if (!kind) return []
    const found: readonly { readonly id: number; readonly name: string }[] = named[kind]
    return { ...row, kind, name: found.find(({ id }) => id === row.target)?.name ?? '' }
  })
}

/** The recording status of a user's calls. */
export async function readOwnRecording({ db, now }: Pick<Core, 'db' | 'now'>, userId: number): Promise<OwnRecording> {
  const at = seconds(now())
  const rows = await rulesInForce(db, at)
  const tokens = await db
    .selectFrom('recording_rules')
    .innerJoin('tokens', 'tokens.id', 'recording_rules.target')
    .select(['tokens.id', 'recording_rules.until'])
    .where('recording_rules.kind', '=', 'token')
    .where('recording_rules.until', '>', at)
    .where('tokens.user_id', '=', userId)
    .where('tokens.deleted_at', 'is', null)
    .execute()
  const latest = (concerns: (row: RuleRow) => boolean) => Math.max(0, ...rows.filter(concerns).map(({ until }) => until))
  return {
    user_until: latest(({ kind, target }) => kind === 'user' && target === userId),
    tokens,
    some_until: latest(({ kind }) => kind === 'share' || kind === 'channel'),
  }
}

/** Starts, changes or ends a rule. Throws `not_found` and `field_invalid`. */
export async function setRecordingRule(
  core: Core,
  { caller, rule, ofUser }: { caller: Caller; rule: RecordingRuleInput; ofUser?: number },
): Promise<void> {
  const { kind, target, per_mille, until } = rule
  const now = seconds(core.now())
  if (until !== 0 && (until <= now || until > now + recordingDaysMax * daySeconds)) {
    const reason = { zh: `须在 ${recordingDaysMax} 天之内`, en: `must be within the next ${recordingDaysMax} days` }
    fail('field_invalid', { field: 'until', reason })
  }
  await change(core, caller, async (within, audit) => {
    if (!(await exists(within, kind, target, ofUser))) fail('not_found')
    const terms = { per_mille, until, created_by: caller.username, created_at: now }
    if (until === 0) await within.deleteFrom('recording_rules').where('kind', '=', kind).where('target', '=', target).execute()
    else {
      await within
        .insertInto('recording_rules')
        .values({ kind, target, ...terms })
        .onConflict((conflict) => conflict.columns(['kind', 'target']).doUpdateSet(terms))
        .execute()
    }
    audit({
      action: until === 0 ? 'recording.stop' : 'recording.start',
      target: kind === 'share' ? 'calls' : `${kind}:${target}`,
      after: until === 0 ? '' : { per_mille, until },
      topic: 'recordings',
    })
  })
}

/** Whether the target of a rule exists; a token must belong to `ofUser`, if given. */
async function exists(within: Within, kind: RecordingKind, target: number, ofUser: number | undefined): Promise<boolean> {
  if (kind === 'share') return target === 0
  const found =
    kind === 'channel'
      ? within.selectFrom('channels').select('id').where('id', '=', target)
      : kind === 'user'
        ? within.selectFrom('users').select('id').where('id', '=', target).where('deleted_at', 'is', null)
        : within
            .selectFrom('tokens')
            .select('id')
            .where('id', '=', target)
            .where('deleted_at', 'is', null)
            .$if(ofUser !== undefined, (query) => query.where('user_id', '=', ofUser ?? 0))
  return (await found.executeTakeFirst()) !== undefined
}
