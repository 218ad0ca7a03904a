import { type QualityQuestion, readTools } from '../../../contract/entities/quality-check.ts'
import { isObject, readJson } from '../../base/lib/bytes/read-json.ts'
import { outputLimitMember } from '../../gateway/protocols/openai-chat/models.ts'
import type { JsonObject } from '../../gateway/protocols/wire-format.ts'
import { callForSite } from '../../gateway/relay/models/site-call.ts'
import type { App } from '../parts.ts'
import { type Answer, readAnswer } from './answer.ts'
import { askedFormat, type Target } from './targets.ts'

/** `skipped`: nothing was sent, because of a refusal of this site that is not a fault of the channel. */
export type Asked =
  | { readonly outcome: 'answered'; readonly ms: number; readonly cost: number; readonly answer: Answer }
  | { readonly outcome: 'error'; readonly ms: number; readonly cost: number; readonly message: string }
  | { readonly outcome: 'skipped'; readonly code: string }

/** Refusals of this site before a request is sent. */
const ownRefusals: ReadonlySet<string> = new Set([
  'price_missing',
  'tool_unpriced',
  'untranslatable',
  'sensitive_words',
  'channel_disabled',
  'channel_pin_unknown',
  'dialect_unavailable',
  'output_unaffordable',
  'database_unavailable',
])

/** Sends the question of a check to one channel; the site bears the cost. */
export async function askChannel(
  app: App,
  question: QualityQuestion,
  { channelId, model }: Target,
  signal: AbortSignal,
): Promise<Asked> {
  const reply = await callForSite(
    app,
    {
      ...{ group: '', model, channelId, format: askedFormat, body: bodyOf(question, model) },
      allowance: { reason: 'quality_check', unitsPerDay: app.options.current.QualityCheckDailyQuota },
    },
    signal,
  )
  if (reply.outcome === 'unaffordable') return { outcome: 'skipped', code: 'daily_limit' }
  const { ms, units: cost } = reply
  if (reply.outcome === 'answered') {
    const body = readJson(reply.body)
    return { outcome: 'answered', ms, cost, answer: readAnswer(isObject(body) ? body : {}) }
  }
  const { code, status, message } = reply
  if (ownRefusals.has(code)) return { outcome: 'skipped', code }
  return { outcome: 'error', ms, cost, message: message === '' ? `status ${status} ${code}`.trim() : message }
}

function bodyOf({ system, prompt, tools, max_output_tokens }: QualityQuestion, model: string): JsonObject {
  const offered = tools === '' ? undefined : readTools(tools)
  return {
    model,
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), { role: 'user', content: prompt }],
    ...(offered ? { tools: offered } : {}),
    [outputLimitMember(model, {})]: max_output_tokens,
  }
}
