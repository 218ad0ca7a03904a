import type { BodyRule } from '../../../../contract/entities/channel-overrides.ts'
import { buckets, type Usage } from '../../../../contract/usage.ts'
import { AppError } from '../../../base/lib/failure.ts'
import type { CallerFormat, Format } from '../../protocols/format.ts'
import { vendorTools } from '../../protocols/hosted-tools.ts'
import { formats } from '../../protocols/index.ts'
import { readOutputLimit } from '../../protocols/output-limit.ts'
import { addingMembers } from '../../protocols/request-bound.ts'
import type { JsonObject, RequestFacts } from '../../protocols/wire-format.ts'
import type { RunningChannel } from '../index/model-index.ts'
import { changedMembers, overrideBody } from '../request/override.ts'
import { isRewritten, upstreamFormat } from '../request/upstream-format.ts'
import { resolveModel } from './select.ts'

/**
 * What a request may become by the overrides of the channels that may answer it: its hold and its bound follow the body that is sent.
 * Pure.
 */
export interface OverriddenRequest {
  /** With the greatest output, and with the tools that an override adds. */
  readonly facts: RequestFacts
  /** Members with which an override makes an upstream add to the prompt. */
  readonly unbounded: readonly string[]
  /** The most bytes that overrides add to the body. */
  readonly bytes: number
}

interface Asked {
  readonly format: CallerFormat
  readonly facts: RequestFacts
  readonly body: JsonObject
}

export function overriddenRequest(channels: readonly RunningChannel[], asked: Asked): OverriddenRequest {
  const unchanged: OverriddenRequest = { facts: asked.facts, unbounded: [], bytes: 0 }
  return channels.reduce((greatest, channel) => greaterOf(greatest, overriddenBy(channel, asked)), unchanged)
}

/** Overrides apply to the body in the upstream's format: of a translated request only the overrides themselves are known. */
function overriddenBy(channel: RunningChannel, { format, facts, body }: Asked): OverriddenRequest {
  const { param_override: rules = [] } = channel.setting
  const model = resolveModel(channel, facts.model)
  const target = upstreamFormat(channel, { format, model, body }) ?? format
  const isOwn = target === format && !isRewritten(channel, format)
  const before = isOwn ? body : {}
  const sent = overrideBody(before, isOwn ? rules : rules.map(withoutPath), { model, asked: facts.model })
  const changes = changedMembers(before, sent)
  if (Object.keys(changes).length === 0) return { facts, unbounded: [], bytes: 0 }
  return {
    facts: isOwn ? factsOf(format, sent, facts) : factsOfRules(channel, { target, model, sent, facts }),
    unbounded: addingMembers(sent),
    bytes: Object.entries(changes).reduce((sum, [name, after]) => sum + Math.max(0, bytesOf(after) - bytesOf(before[name])), 0),
  }
}

/** A condition on a path is about the translated body, which is not known yet: it may hold. */
function withoutPath(rule: BodyRule): BodyRule {
  return rule.when?.path === undefined ? rule : { ...rule, when: { ...rule.when, path: undefined } }
}

/** A body that an override made invalid is for the upstream to refuse. */
function factsOf(format: CallerFormat, sent: JsonObject, facts: RequestFacts): RequestFacts {
  try {
    return formats[format].wire.readRequest(sent, { model: facts.model, stream: facts.stream })
  } catch (error) {
    if (error instanceof AppError) return facts
    throw error
  }
}

function factsOfRules(
  { provider }: RunningChannel,
  { target, model, sent, facts }: { target: Format; model: string; sent: JsonObject; facts: RequestFacts },
): RequestFacts {
  const limit = readOutputLimit(formats[target], sent, { model, quirks: provider.quirks })
  return {
    ...facts,
    ...vendorTools(formats[target], sent),
    ...(limit === undefined ? {} : { outputTokensMax: limit * (facts.completions ?? 1) }),
  }
}

function greaterOf(one: OverriddenRequest, other: OverriddenRequest): OverriddenRequest {
  const [left, right] = [one.facts, other.facts]
  if (left === right) return one
  const { outputTokensMax: leftMax, completions: leftCount = 1, callsMax: leftCalls = 1 } = left
  const { outputTokensMax: rightMax, completions: rightCount = 1, callsMax: rightCalls = 1 } = right
  const hostedTools = namesOf(left.hostedTools, right.hostedTools)
  const freeTools = namesOf(left.freeTools, right.freeTools)
  return {
    facts: {
      ...left,
      outputTokensMax: leftMax === undefined || rightMax === undefined ? undefined : Math.max(leftMax, rightMax),
      completions: Math.max(leftCount, rightCount),
      callsMax: Math.max(leftCalls, rightCalls),
      ...(left.most && right.most ? { most: greatest(left.most, right.most) } : {}),
      ...(hostedTools ? { hostedTools } : {}),
      ...(freeTools ? { freeTools } : {}),
    },
    unbounded: [...new Set([...one.unbounded, ...other.unbounded])],
    bytes: Math.max(one.bytes, other.bytes),
  }
}

function greatest(one: Usage, other: Usage): Usage {
  const usage = { ...one, calls: Math.max(one.calls, other.calls) }
  for (const bucket of buckets) usage[bucket] = Math.max(one[bucket], other[bucket])
  return usage
}

function namesOf(one: readonly string[] | undefined, other: readonly string[] | undefined): readonly string[] | undefined {
  return one || other ? [...new Set([...(one ?? []), ...(other ?? [])])] : undefined
}

function bytesOf(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))
}
