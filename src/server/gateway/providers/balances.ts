import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../protocols/wire-format.ts'
import { bearer, joinUrl } from './openai-compatible.ts'
import type { BalanceStep, Provider, Upstream } from './provider.ts'

/**
 * Balance queries of upstreams. Each is a function of the answers so far that returns the next request or the balance; undefined when
 * an answer does not match the vendor's documentation. Source: the pages named below, read 2026-11.
 */
type Balance = NonNullable<Provider['balance']>

/** OpenAI's old billing pages, which resellers and compatible gateways still serve: the limit minus the usage of the period. */
export const openAiBilling: Balance = (channel, replies, nowMs) => {
  const [subscription, usage] = replies
  if (subscription === undefined) return ask(channel, '/v1/dashboard/billing/subscription')
  const limit = amountOf(subscription, 'hard_limit_usd')
  if (limit === undefined) return undefined
  if (usage !== undefined) {
    const usedCents = amountOf(usage, 'total_usage')
    return usedCents === undefined ? undefined : usd(limit - usedCents / 100)
  }
  // Paying accounts are billed by the month; for others the usage of a hundred days counts.
  const pays = isObject(subscription) && subscription.has_payment_method === true
  const start = pays ? `${dayOf(nowMs).slice(0, 8)}01` : dayOf(nowMs - 100 * dayMs)
  return ask(channel, `/v1/dashboard/billing/usage?start_date=${start}&end_date=${dayOf(nowMs)}`)
}

/** `{ total_available }`, or `{ total_remaining }` as one reseller names it. */
export const creditGrants: Balance = (channel, [grants]) => {
  if (grants === undefined) return ask(channel, '/dashboard/billing/credit_grants')
  return usd(amountOf(grants, 'total_remaining') ?? amountOf(grants, 'total_available'))
}

/** https://api-docs.deepseek.com/api/get-user-balance. An account may have both currencies. */
export const deepseekBalance: Balance = (channel, [reply]) => {
  if (reply === undefined)
    return ask({ ...channel, baseUrl: channel.baseUrl.replace(/\/(v1|beta|anthropic)$/, '') }, '/user/balance')
  const infos = (isObject(reply) ? arrayAt(reply, 'balance_infos') : []).filter(isObject)
  const dollars = infos.find((info) => textAt(info, 'currency') === 'USD')
  if (dollars && (amountOf(dollars, 'total_balance') ?? 0) > 0) return usd(amountOf(dollars, 'total_balance'))
  const yuan = infos.find((info) => textAt(info, 'currency') === 'CNY')
  return yuan ? cny(amountOf(yuan, 'total_balance')) : usd(amountOf(dollars, 'total_balance'))
}

/** https://docs.siliconflow.cn/cn/api-reference/userinfo/get-user-info */
export const siliconflowBalance: Balance = (channel, [reply]) => {
  if (reply === undefined) return ask(channel, '/v1/user/info')
  return isObject(reply) && reply.code === 20000 ? cny(amountOf(objectAt(reply, 'data'), 'totalBalance')) : undefined
}

/** https://openrouter.ai/docs/api/api-reference/credits/get-credits. New accounts need a management key for it. */
export const openrouterBalance: Balance = (channel, [reply]) => {
  if (reply === undefined) return ask(channel, '/v1/credits')
  const data = isObject(reply) ? objectAt(reply, 'data') : undefined
  const [bought, used] = [amountOf(data, 'total_credits'), amountOf(data, 'total_usage')]
  return bought === undefined || used === undefined ? undefined : usd(bought - used)
}

/** https://platform.moonshot.cn/docs/api/balance. In dollars on the international site. */
export const moonshotBalance: Balance = (channel, [reply]) => {
  if (reply === undefined) return ask(channel, '/v1/users/me/balance')
  const amount = isObject(reply) ? amountOf(objectAt(reply, 'data'), 'available_balance') : undefined
  return new URL(channel.baseUrl).hostname.endsWith('.ai') ? usd(amount) : cny(amount)
}

/**
 * On another host than the API: only requested for channels with the vendor's own address, so that the key of no other host is sent
 * there.
 */
export const aiproxyBalance: Balance = (channel, [reply]) => {
  if (!/^https:\/\/(api\.)?aiproxy\.io$/.test(channel.baseUrl)) return undefined
  if (reply === undefined)
    return { ask: { url: 'https://aiproxy.io/api/report/getUserOverview', headers: { 'api-key': channel.key } } }
  return isObject(reply) && reply.success === true ? usd(amountOf(objectAt(reply, 'data'), 'totalPoints')) : undefined
}

const dayMs = 86_400_000

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

function ask({ baseUrl, key }: Upstream, path: string): BalanceStep {
  return { ask: { url: joinUrl(baseUrl, path, ['/v1']), headers: bearer(key) } }
}

function usd(amount: number | undefined): BalanceStep | undefined {
  return amount === undefined ? undefined : { amount, currency: 'USD' }
}

function cny(amount: number | undefined): BalanceStep | undefined {
  return amount === undefined ? undefined : { amount, currency: 'CNY' }
}

/** Vendors write amounts as numbers or as text. */
function amountOf(reply: unknown, member: string): number | undefined {
  const value = isObject(reply) ? (reply as JsonObject)[member] : undefined
  const amount = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof amount === 'number' && Number.isFinite(amount) ? amount : undefined
}
