import { fail } from '../../base/lib/failure.ts'
import type { Core } from '../../base/options/core.ts'
import type { RelayCaller } from '../../people/tokens/authenticate.ts'
import type { LogFilter } from '../../usage/filter.ts'
import { listOwnLogs } from '../../usage/log/log.ts'
import { keysIn } from './admission/authenticate.ts'
import type { GatewayParts } from './gateway-parts.ts'
import type { ClientExchange } from './http/client-exchange.ts'
import type { BillingQuestion } from './http/endpoints.ts'

/** The value that such clients show as unlimited. */
const unlimited = 100_000_000
const logRowsMax = 100

/**
 * Reports the balance of the caller's token, or that of its owner when the site does not show balances of tokens. Throws as
 * `authenticate`.
 */
export async function handleBilling(
  app: Core & Pick<GatewayParts, 'authenticator'>,
  call: ClientExchange,
  question: BillingQuestion,
): Promise<void> {
  const { headers, url } = call.request
  // Old pages send the key in the URL. It is only read: URLs of these calls are not logged.
  const inAddress = question === 'log' ? (new URLSearchParams(url?.split('?')[1]).get('key') ?? '') : ''
  const caller = await app.authenticator.authenticate(
    [...keysIn(headers, call.dialect), inAddress],
    call.client.address,
    call.notes,
  )
  const answers = { subscription: readSubscription, usage: readUsage, token: readTokenUsage, log: readLogs }
  call.answer('application/json; charset=utf-8', Buffer.from(JSON.stringify(await answers[question](app, caller))))
}

async function readSubscription(app: Pick<GatewayParts, 'db' | 'options'>, caller: RelayCaller) {
  const { remain, used, isUnlimited, expiresAt } = await readBalance(app, caller)
  const limit = isUnlimited ? unlimited : shown(app, remain + used)
  return {
    object: 'billing_subscription',
    has_payment_method: true,
    soft_limit_usd: limit,
    hard_limit_usd: limit,
    system_hard_limit_usd: limit,
    access_until: Math.max(0, expiresAt),
  }
}

/** Total usage, in cents when the site displays dollars. */
async function readUsage(app: Pick<GatewayParts, 'db' | 'options'>, caller: RelayCaller) {
  return { object: 'list', total_usage: shown(app, (await readBalance(app, caller)).used * 100) }
}

async function readTokenUsage(app: Pick<GatewayParts, 'db'>, caller: RelayCaller) {
  const token = await readToken(app, caller)
  return {
    code: true,
    message: 'ok',
    data: {
      object: 'token_usage',
      name: token.name,
      total_granted: token.remain_quota + token.used_quota,
      total_used: token.used_quota,
      total_available: token.remain_quota,
      unlimited_quota: token.unlimited_quota === 1,
      model_limits: Object.fromEntries([...(caller.modelLimits ?? [])].map((model) => [model, true])),
      model_limits_enabled: caller.modelLimits !== null,
      expires_at: Math.max(0, token.expired_time),
    },
  }
}

/**
 * The newest log rows of the token as its owner sees them, in ascending order. Found by the token's current name, which is indexed.
 */
async function readLogs(app: Core, { userId, tokenId, tokenName }: RelayCaller) {
  const asked = {
    userId,
    filter: { tokenId, token_name: tokenName } satisfies LogFilter,
    page: { offset: 0, limit: logRowsMax },
    uncounted: true,
  } as const
  return { success: true, message: '', data: (await listOwnLogs(app, asked)).items.toReversed() }
}

async function readBalance(app: Pick<GatewayParts, 'db' | 'options'>, caller: RelayCaller) {
  if (app.options.current.DisplayTokenStatEnabled) {
    const { remain_quota, used_quota, unlimited_quota, expired_time } = await readToken(app, caller)
    return { remain: remain_quota, used: used_quota, isUnlimited: unlimited_quota === 1, expiresAt: expired_time }
  }
  const { quota, used_quota } = await app.db
    .selectFrom('users')
    .select(['quota', 'used_quota'])
    .where('id', '=', caller.userId)
    .executeTakeFirstOrThrow()
  return { remain: quota, used: used_quota, isUnlimited: false, expiresAt: caller.expiresAt }
}

async function readToken(app: Pick<GatewayParts, 'db'>, { tokenId }: RelayCaller) {
  const token = await app.db
    .selectFrom('tokens')
    .select(['name', 'remain_quota', 'used_quota', 'unlimited_quota', 'expired_time'])
    .where('id', '=', tokenId)
    .executeTakeFirst()
  return token ?? fail('token_invalid')
}

function shown(app: Pick<GatewayParts, 'options'>, units: number): number {
  const { DisplayInCurrencyEnabled, QuotaPerUnit } = app.options.current
  return DisplayInCurrencyEnabled ? units / QuotaPerUnit : units
}
