import type { Tier, TierMember } from '../../../contract/usage.ts'
import { type JsonObject, objectAt, textAt } from './wire-format.ts'

/**
 * Service tiers, as requests select them and replies report them. For a request only tiers other than the default are returned; for
 * a reply also the default ones, because a missing member tells nothing about the tier. Source: types of the SDKs of OpenAI 7.55,
 * Anthropic 1.10 and Google 2.32.
 */

/** The tier requested in OpenAI's formats: `service_tier`. */
export function tierAsked(body: JsonObject): { requestedTier?: Tier } {
  return asked({ service_tier: openAiWord(textAt(body, 'service_tier')) })
}

/**
 * The tier requested in Responses, which also sells longer windows for responses in the background: at the standard tier, and for a
 * response that is not streamed. Source: https://developers.openai.com/api/docs/guides/background, read 2026-11.
 */
export function responsesTierAsked(body: JsonObject): { requestedTier?: Tier } {
  const window = textAt(objectAt(body, 'background_options') ?? {}, 'completion_window')
  const tier = openAiWord(textAt(body, 'service_tier'))
  const isStandard = tier === '' || ordinary.has(tier)
  const isWindow = (window === '2h' || window === '8h') && body.background === true && body.stream !== true && isStandard
  return asked({ service_tier: tier, background_options: isWindow ? `background_${window}` : '' })
}

/** The tier that served an OpenAI reply. */
export function tierServed(reply: JsonObject): { tier?: Tier } {
  return served({ service_tier: openAiWord(textAt(reply, 'service_tier')) })
}

/** The tier requested in Messages: `service_tier`, `speed`, `inference_geo`. */
export function messagesTierAsked(body: JsonObject): { requestedTier?: Tier } {
  return asked(messagesMembers(body))
}

/** The tier of a Messages reply, from its usage. New members are added to `before`. */
export function messagesTierServed(usage: JsonObject, before: Tier | undefined): { tier?: Tier } {
  const { tier } = served(messagesMembers(usage))
  return before || tier ? { tier: { ...before, ...tier } } : {}
}

/** The tier requested in Gemini: `serviceTier`, in camel case or snake case. */
export function geminiTierAsked(body: JsonObject): { requestedTier?: Tier } {
  return asked({ service_tier: textAt(body, 'serviceTier') || textAt(body, 'service_tier') })
}

/** The tier that served a Gemini reply: the Gemini API and Vertex AI name it differently. */
export function geminiTierServed(reply: JsonObject): { tier?: Tier } {
  const usage = objectAt(reply, 'usageMetadata') ?? {}
  return served({ service_tier: textAt(usage, 'serviceTier') || (trafficTiers[textAt(usage, 'trafficType')] ?? '') })
}

type Members = Readonly<Partial<Record<TierMember, string>>>

function messagesMembers(value: JsonObject): Members {
  return {
    service_tier: textAt(value, 'service_tier'),
    speed: textAt(value, 'speed'),
    inference_geo: textAt(value, 'inference_geo'),
  }
}

/** `fast` and `priority` are the same tier: the reply reports `priority` for both. */
function openAiWord(value: string): string {
  return value.toLowerCase() === 'fast' ? 'priority' : value
}

/** Whether a tier belongs to Anthropic, Groq or Google, which OpenAI refuses. */
export function isForeignTier(value: unknown): boolean {
  return foreignTiers.has(value)
}

const foreignTiers: ReadonlySet<unknown> = new Set([
  'standard',
  'standard_only',
  'on_demand',
  'performance',
  'unspecified',
  'not_available',
])

const trafficTiers: Readonly<Record<string, string>> = {
  ON_DEMAND: 'standard',
  ON_DEMAND_PRIORITY: 'priority',
  ON_DEMAND_FLEX: 'flex',
}

function asked(members: Members): { requestedTier?: Tier } {
  const { tier } = served(members)
  if (!tier) return {}
  const dear = Object.entries(tier).filter(([, value]) => !ordinary.has(value))
  return dear.length === 0 ? {} : { requestedTier: Object.fromEntries(dear) }
}

function served(members: Members): { tier?: Tier } {
  let tier: Partial<Record<TierMember, string>> | undefined
  let member: TierMember
  for (member in members) {
    const value = members[member]
    if (value) tier = { ...tier, [member]: value.toLowerCase() }
  }
  return tier ? { tier } : {}
}

/** Tiers with the default price. `auto` is the account's setting. */
const ordinary: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'standard',
  'standard_only',
  'on_demand',
  'unspecified',
  'global',
  'not_available',
])
