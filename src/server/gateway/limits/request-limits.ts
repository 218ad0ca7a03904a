import type { RequestLimit } from '../../../contract/entities/request-limit.ts'
import type { OptionValues } from '../../../contract/options/index.ts'
import type { Core } from '../../base/options/core.ts'
import { derived } from '../../base/options/derived.ts'
import type { RelayCaller } from '../../people/tokens/authenticate.ts'
import type { Counters } from './counters.ts'
import { RateLimitLease } from './rate-limit-lease.ts'
import type { Rule } from './rule.ts'

type LimitedCaller = Pick<RelayCaller, 'userId' | 'tokenId' | 'userGroup' | 'tokenGroup' | 'limits'>

/** The rate limits of model requests by user, by group and by token, from the current options. */
export class RequestLimits {
  readonly #counters: Counters
  readonly #areSet: () => boolean
  readonly #options: Core['options']

  constructor({ options }: Pick<Core, 'options'>, counters: Counters) {
    this.#counters = counters
    this.#options = options
    this.#areSet = derived(options, areSet)
  }

  /**
   * The rate-limit lease of a request, not yet acquired; undefined when no limit applies to this caller. `isPart`: the request runs
   * inside a session with a lease of its own, and takes no further concurrency slot.
   */
  leaseOf(caller: LimitedCaller, requestId: string, { isPart = false } = {}): RateLimitLease | undefined {
    if (!this.#areSet() && caller.limits === null) return undefined
    const ruleOfPart = (rule: Rule) => (isPart ? { ...rule, concurrency: 0 } : rule)
    const rulesIn = (group: string) => rulesOf(this.#options.current, caller, group).map(ruleOfPart)
    const ownGroup = caller.tokenGroup || caller.userGroup
    const certainRules = () => (ownGroup === 'auto' ? ruleOfToken(caller).map(ruleOfPart) : rulesIn(ownGroup))
    return new RateLimitLease(this.#counters, requestId, { rulesIn, certainRules, ownGroup })
  }
}

function areSet(values: OptionValues): boolean {
  const { ModelRequestRateLimitEnabled, UserRequestLimits, GroupRequestLimits } = values
  return ModelRequestRateLimitEnabled || [UserRequestLimits, GroupRequestLimits].some((map) => Object.keys(map).length > 0)
}

function rulesOf(values: OptionValues, caller: LimitedCaller, group: string): Rule[] {
  const { userId } = caller
  return [
    ...modelRules(values, userId, group),
    ...limitsIn(values.UserRequestLimits, group).map((limit, index) => ruleOf('user', `user:${userId}:${index}`, limit)),
    ...limitsIn(values.GroupRequestLimits, group).map((limit, index) => ruleOf('group', `group:${group}:${index}`, limit)),
    ...ruleOfToken(caller),
  ]
}

function ruleOfToken({ tokenId, limits }: LimitedCaller): Rule[] {
  return limits ? [ruleOf('token', `token:${tokenId}`, limits)] : []
}

/** The limits of the compatible settings: of each user, with other numbers for some groups. A period of 0 minutes limits nothing. */
function modelRules(values: OptionValues, userId: number, group: string): Rule[] {
  const windowMs = values.ModelRequestRateLimitDurationMinutes * 60_000
  if (!values.ModelRequestRateLimitEnabled || windowMs === 0) return []
  const [requests, successes] = values.ModelRequestRateLimitGroup[group] ?? [
    values.ModelRequestRateLimitCount,
    values.ModelRequestRateLimitSuccessCount,
  ]
  return [{ key: `user:${userId}:model:${windowMs}`, scope: 'user', windowMs, requests, successes, tokens: 0, concurrency: 0 }]
}

function limitsIn(map: OptionValues['UserRequestLimits'], group: string): readonly RequestLimit[] {
  return map[group] ?? map['*'] ?? []
}

/** The length of the window is part of the key, since another window starts from zero. */
function ruleOf(whose: Rule['scope'], name: string, { seconds, requests, tokens, concurrency }: RequestLimit): Rule {
  const windowMs = seconds * 1000
  return { key: `${name}:${windowMs}`, scope: whose, windowMs, requests, successes: 0, tokens, concurrency }
}
