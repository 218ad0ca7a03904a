import type { BudgetPeriod, BudgetScope } from '../../../contract/entities/budget.ts'
import type { LogLimit } from '../../../contract/entities/log.ts'
import type { Text } from '../../../contract/text.ts'
import type { Queries } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { Snapshot } from '../../base/lib/collections/snapshot.ts'
import { AppError } from '../../base/lib/failure.ts'
import { type Span, spanOf } from '../../base/lib/time/calendar.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { zoneClock } from '../../base/lib/time/zone-clock.ts'
import type { Core } from '../../base/options/core.ts'
import type { BudgetWindow } from '../../money/ledger/budget-window.ts'
import type { CallLedger, Hold } from '../../money/ledger/ledger.ts'
import { quotaText } from '../../money/ledger/quota-text.ts'
import type { Bounds } from '../../people/organisations/allowances.ts'
import { isOfOrganisation, periodText, whoseTexts, withRaise } from './budget-texts.ts'
import { piecesPerWindow } from './window.ts'

interface BudgetedCaller {
  readonly userId: number
  /** 0 for none. */
  readonly tokenId: number
  /** Where the token of an organisation belongs. */
  readonly organisation?: Pick<Bounds, 'memberId' | 'teamIds'>
}

/** What a budget leaves its caller. Units. */
export interface BudgetStatus {
  readonly limit: number
  readonly remaining: number
  /** Unix seconds; undefined for never. */
  readonly renewsAt: number | undefined
}

/** A budget of a channel has no room for a call. */
export interface ChannelRefusal {
  readonly error: AppError
  /** Time until the budget may have room again; infinite when it never will. */
  readonly waitMs: number
}

/** The budgets of all nodes, read without I/O, and the windows that count a call. The ledger counts and refuses. */
export class Budgets {
  readonly #core: Pick<Core, 'now' | 'options'>
  readonly #index: Snapshot<BudgetIndex>

  private constructor(core: Core) {
    this.#core = core
    this.#index = new Snapshot(
      async () =>
        new BudgetIndex(await core.db.selectFrom('budgets').selectAll().orderBy('id').execute(), await namesOfTeams(core.db)),
    )
    const follow = () => this.#index.follow((error) => core.logger.error({ error }, 'the budgets are not read yet'))
    core.bus.on('budgets', follow)
  }

  static async open(core: Core): Promise<Budgets> {
    const budgets = new Budgets(core)
    await budgets.refresh()
    return budgets
  }

  /** Reads the budgets again after a change on this node, so that they apply to its next call. */
  async refresh(): Promise<void> {
    await this.#index.refresh()
  }

  /**
   * The windows that count a call from its beginning; undefined when there are none. `models`: the names that it requests and is
   * charged under.
   */
  windowsOf(
    { userId, tokenId, organisation }: BudgetedCaller,
    group: string,
    models: readonly string[],
  ): readonly BudgetWindow[] | undefined {
    const index = this.#index.current
    if (index.isEmpty) return undefined
    const found = [
      ...(index.of('user', userId) ?? []),
      ...(index.of('token', tokenId) ?? []),
      ...(index.of('group', group) ?? []),
      ...[...new Set(models)].flatMap((model) => index.of('model', model) ?? []),
      ...(organisation ? index.above(userId, organisation) : []),
    ]
    return found.length === 0 ? undefined : found.map((budget) => this.#windowOf(budget))
  }

  /**
   * The windows that count the charges of a channel; undefined when there are none. A hold is extended by them before the channel
   * is called.
   */
  windowsOfChannel(channelId: number): readonly BudgetWindow[] | undefined {
    const found = this.#index.current.of('channel', channelId)
    return found?.map((budget) => ({ ...this.#windowOf(budget), channelId }))
  }

  /**
   * Counts the hold of a call in the budgets of the channel that is about to be called. Resolves with the refusal of a budget without
   * room for it: the channel must not be called then. Undefined for a channel without budgets. Rejects with `database_unavailable`.
   */
  enterChannel(
    ledger: Pick<CallLedger, 'extend'>,
    hold: Hold,
    channelId: number,
  ): Promise<ChannelRefusal | undefined> | undefined {
    const windows = this.windowsOfChannel(channelId)
    return windows && this.#extendHold(ledger, hold, windows)
  }

  async #extendHold(
    ledger: Pick<CallLedger, 'extend'>,
    hold: Hold,
    windows: readonly BudgetWindow[],
  ): Promise<ChannelRefusal | undefined> {
    try {
      await ledger.extend(hold, windows)
      return undefined
    } catch (error) {
      const explained = this.explain(error)
      if (!(explained instanceof AppError) || explained.code !== 'budget_exceeded') throw error
      const { retryAfter } = explained.params
      return { error: explained, waitMs: typeof retryAfter === 'number' ? retryAfter * 1000 : Number.POSITIVE_INFINITY }
    }
  }

  /** When the window of a budget may admit what it refuses now, unix seconds. Undefined for never. */
  renewsAt(row: Row<'budgets'>): number | undefined {
    return this.#renewsAt(runningBudget(row))
  }

  /**
   * Of windows with these units `left`, the status of the one with the least among the hard budgets of the caller's own user and
   * token; undefined when there is none. Budgets that others share are not disclosed.
   */
  tightestOf(windows: readonly Pick<BudgetWindow, 'budgetId'>[], left: readonly number[]): BudgetStatus | undefined {
    let tightest: BudgetStatus | undefined
    for (const [at, { budgetId }] of windows.entries()) {
      const budget = this.#index.current.byId.get(budgetId)
      const remaining = Math.max(0, left[at] ?? 0)
      if (!budget?.isHard || !isOwners(budget) || (tightest && tightest.remaining <= remaining)) continue
      tightest = { limit: amountAt(budget, seconds(this.#core.now())), remaining, renewsAt: this.#renewsAt(budget) }
    }
    return tightest
  }

  /** The error for the caller when a budget refuses a hold; returns any other error unchanged. */
  explain(error: unknown): unknown {
    if (!(error instanceof AppError) || error.code !== 'budget_exceeded' || error.params.whose !== undefined) return error
    const id = Number(error.params.budgetId)
    const budget = this.#index.current.byId.get(id)
    if (!budget) return error
    const window = this.#windowOf(budget)
    const now = seconds(this.#core.now())
    const renewsAt = this.#renewsAt(budget)
    const limit: LogLimit = {
      ...{ kind: 'budget', scope: budget.scope, period: budget.period },
      ...(budget.seconds > 0 ? { seconds: budget.seconds } : {}),
      ...(renewsAt === undefined ? {} : { renews_at: renewsAt }),
    }
    const renews = this.#renewsText(window, renewsAt)
    const params = {
      ...{ whose: this.#whoseText(budget), budget: this.#nameOf(budget, window), renews: withRaise(budget, renews) },
      state: this.#stateText(budget, { need: Number(error.params.need), have: Number(error.params.have) }),
      ...(renewsAt === undefined ? {} : { retryAfter: Math.max(1, renewsAt - now) }),
    }
    return new AppError('budget_exceeded', params, { detail: { limit, budget: id } })
  }

  /** The current window of a budget. */
  windowOf(row: Row<'budgets'>): BudgetWindow {
    return this.#windowOf(runningBudget(row))
  }

  #windowOf(budget: RunningBudget): BudgetWindow {
    const now = seconds(this.#core.now())
    const limit = budget.isHard ? amountAt(budget, now) : Number.MAX_SAFE_INTEGER
    const { id: budgetId, period } = budget
    if (period === 'total') return { budgetId, start: 0, since: 0, until: 0, step: 0, limit }
    if (period !== 'sliding') {
      const { start } = this.#spanOf(budget)
      return { budgetId, start, since: start, until: start, step: 0, limit }
    }
    const step = Math.ceil(budget.seconds / piecesPerWindow)
    const rowOf = (at: number) => Math.floor(at / step) * step
    return { budgetId, start: rowOf(now), since: rowOf(now - budget.seconds), until: rowOf(now + budget.seconds), step, limit }
  }

  /** The end of a window, or when the first part of a sliding one may leave it. */
  #renewsAt(budget: RunningBudget): number | undefined {
    if (budget.period === 'total') return undefined
    const { start, step } = this.#windowOf(budget)
    return step > 0 ? start + step : this.#spanOf(budget).end
  }

  /** Computed once for each window. */
  #spanOf(budget: RunningBudget): Span {
    const now = seconds(this.#core.now())
    const zone = this.#core.options.current.SiteTimeZone
    const { span } = budget
    if (span && budget.zone === zone && now >= span.start && now < span.end) return span
    // Periods without a calendar never get here.
    budget.span = spanOf(budget.period as 'day' | 'week' | 'month', zone, now)
    budget.zone = zone
    return budget.span
  }

  /** The amount of a budget that many callers share is not disclosed. */
  #nameOf(budget: RunningBudget, { limit }: BudgetWindow): Text {
    const period = periodText(budget)
    if (!isOwners(budget)) return period
    const amount = quotaText(this.#core, limit)
    return { zh: `${period.zh} ${amount}`, en: `${amount} ${period.en}` }
  }

  #whoseText({ scope, subjectId }: RunningBudget): Text {
    const name = scope === 'team' ? this.#index.current.teams.get(subjectId) : undefined
    return name === undefined ? whoseTexts[scope] : { zh: `团队“${name}”`, en: `the team “${name}”` }
  }

  #stateText(budget: RunningBudget, { need, have }: { need: number; have: number }): Text {
    if (!isOwners(budget)) return { zh: '余额不足以处理此请求', en: 'what is left does not cover this call' }
    const [left, needed] = [quotaText(this.#core, Math.max(0, have), 'down'), quotaText(this.#core, need, 'up')]
    return {
      zh: `剩余 ${left}（已扣除进行中请求的预扣），本次请求最多需要 ${needed}`,
      en: `${left} left beside what running calls hold, and this call may need ${needed}`,
    }
  }

  #renewsText({ step }: BudgetWindow, at: number | undefined): Text {
    if (at === undefined) return { zh: '该预算不会自动更新。', en: 'It does not renew.' }
    const time = zoneClock(this.#core.options.current.SiteTimeZone).timeText(at)
    if (step > 0) return { zh: `最早于 ${time} 起有余额。`, en: `There may be room again from ${time}.` }
    return { zh: `将于 ${time} 更新。`, en: `It renews at ${time}.` }
  }
}

/** A budget as read, with the calendar window of its last call. */
interface RunningBudget {
  readonly id: number
  readonly scope: BudgetScope
  readonly subject: string
  /** 0 for the name of a group or model. */
  readonly subjectId: number
  readonly period: BudgetPeriod
  readonly seconds: number
  readonly amount: number
  readonly isHard: boolean
  /** An admin of the site has set it. */
  readonly isOfSite: boolean
  readonly override: { readonly amount: number; readonly until: number } | undefined
  span: Span | undefined
  zone: string
}

function runningBudget(row: Row<'budgets'>): RunningBudget {
  return {
    id: row.id,
    // Only `manage-budgets.ts` writes them, with these types.
    scope: row.scope as BudgetScope,
    period: row.period as BudgetPeriod,
    subject: row.subject,
    subjectId: row.subject_id,
    seconds: row.seconds,
    amount: row.amount,
    isHard: row.is_hard === 1,
    isOfSite: row.set_by === 'admin',
    override: row.has_override === 1 ? { amount: row.override_amount, until: row.override_until } : undefined,
    span: undefined,
    zone: '',
  }
}

/** The current amount of a budget, with an override taken into account. */
export function amountNow(row: Row<'budgets'>, now: number): number {
  return amountAt(runningBudget(row), now)
}

function amountAt({ amount, override }: Pick<RunningBudget, 'amount' | 'override'>, now: number): number {
  return override && (override.until === 0 || now < override.until) ? override.amount : amount
}

class BudgetIndex {
  readonly byId: ReadonlyMap<number, RunningBudget>
  readonly isEmpty: boolean
  readonly #of: Readonly<Record<BudgetScope, Map<number | string, RunningBudget[]>>> = {
    user: new Map(),
    group: new Map(),
    token: new Map(),
    model: new Map(),
    channel: new Map(),
    organisation: new Map(),
    team: new Map(),
    member: new Map(),
  }
  /** Names by id. */
  readonly teams: ReadonlyMap<number, string>

  constructor(rows: readonly Row<'budgets'>[], teams: ReadonlyMap<number, string>) {
    this.teams = teams
    const budgets = rows.map(runningBudget)
    this.byId = new Map(budgets.map((budget) => [budget.id, budget]))
    this.isEmpty = budgets.every(({ scope }) => scope === 'channel')
    for (const budget of budgets) {
      const key = budget.subjectId === 0 ? budget.subject : budget.subjectId
      const known = this.#of[budget.scope].get(key)
      if (known) known.push(budget)
      else this.#of[budget.scope].set(key, [budget])
    }
  }

  /** The budgets of all places above a token of an organisation. */
  above(organisationId: number, { memberId, teamIds }: Pick<Bounds, 'memberId' | 'teamIds'>): readonly RunningBudget[] {
    return [
      ...(memberId === 0 ? [] : (this.of('member', memberId) ?? [])),
      ...teamIds.flatMap((id) => this.of('team', id) ?? []),
      ...(this.of('organisation', organisationId) ?? []),
    ]
  }

  of(scope: BudgetScope, subject: number | string): readonly RunningBudget[] | undefined {
    return this.#of[scope].get(subject)
  }
}

async function namesOfTeams(db: Queries): Promise<ReadonlyMap<number, string>> {
  const rows = await db
    .selectFrom('organisation_teams')
    .select(['id', 'name'])
    .where('id', 'in', (budgets) => budgets.selectFrom('budgets').select('subject_id').where('scope', '=', 'team'))
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** How the subject of a budget is identified. */
export const namedBy: Readonly<Record<BudgetScope, 'id' | 'name'>> = {
  user: 'id',
  group: 'name',
  token: 'id',
  model: 'name',
  channel: 'id',
  organisation: 'id',
  team: 'id',
  member: 'id',
}

/** Whether a budget limits the money of one payer, whose people may see its amount. */
function isOwners({ scope }: Pick<RunningBudget, 'scope'>): boolean {
  return scope === 'user' || scope === 'token' || isOfOrganisation(scope)
}
