import { AppError } from '../../../base/lib/failure.ts'
import { isHeavy, yieldWithPriority } from '../../../base/lib/time/yield-to-event-loop.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import type { RunningChannel } from '../../channels/index/model-index.ts'
import { ruleOverrides } from '../../channels/request/body-overrides.ts'
import { dialogueWithPrompt, promptOf } from '../../channels/request/system-prompt.ts'
import type { Codec, Inbound, TranslationSettings, WrittenRequest } from '../../protocols/codec.ts'
import type { FormatDeclaration } from '../../protocols/define-format.ts'
import type { Dialogue, ReasoningPart } from '../../protocols/dialogue.ts'
import type { Format } from '../../protocols/format.ts'
import { carriedTools, isWebSearch, vendorTools } from '../../protocols/hosted-tools.ts'
import { formats } from '../../protocols/index.ts'
import { fieldNameFor, leaveOutVendorTools, lose, loseUnread } from '../../protocols/lost-fields.ts'
import { readOutputLimit } from '../../protocols/output-limit.ts'
import { refusedThoughts } from '../../protocols/past-thoughts.ts'
import type { JsonObject } from '../../protocols/wire-format.ts'
import { adjustRequest, quirksFor } from '../../providers/adjust-request.ts'
import type { AdmittedRequest } from '../admission/admitted-request.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import { UpstreamFailure } from '../upstream/failure.ts'
import { inlineMedia, mediaOf } from '../upstream/fetch-media.ts'
import { refusedReasoning } from '../upstream/refused-reasoning.ts'
import { callerHeaders, hasRefused, limitedMembers, versionSent } from '../upstream/request-target.ts'
import type { Written } from './adapter.ts'
import type { BegunAttempt } from './attempt-state.ts'
import { DroppedFields, setDroppedHeader, unpricedOf } from './losses.ts'
import type { SealedStates } from './sealed-states.ts'
import { translated } from './translated.ts'

/**
 * Translates the caller's request to a format of the upstream. A request that this format cannot carry is a failure of this channel
 * only: another one may have the caller's format. Lists dropped fields in a header of the answer. Throws for an invalid request.
 */
export async function translate(
  app: Pick<GatewayParts, 'logger' | 'mediaMemory' | 'now' | 'options' | 'upstream'> & { readonly sealedStates: SealedStates },
  attempt: BegunAttempt,
  to: { format: Format; model: string },
): Promise<Written | UpstreamFailure> {
  const { request, channel } = attempt
  const { provider, setting } = channel
  const { codec, inbound } = pairOf(request, to.format)
  const declaration = formats[to.format]
  const dropped = new DroppedFields(request)
  const isHeavyBody = isHeavy(request.body.bytes.length)
  let written: WrittenRequest
  let dialogue: Dialogue
  let raisedLimit: number | undefined
  const version = versionSent(app.options.current, channel, { call: request.call, ...to })
  try {
    dialogue = await dialogueFor(app, attempt, { codec, inbound, lose: dropped.lose })
    if (isHeavyBody) await yieldWithPriority()
    const complete = {
      ...dialogueWithPrompt(dialogue, promptOf(setting)),
      stream: dialogue.stream || provider.alwaysStreams === true,
      wantsUsage: true,
    }
    const context = {
      model: to.model,
      quirks: quirksFor(channel, to.model),
      settings: settingsOf(app, request.caller, channel),
      version,
      lose: dropped.lose,
    }
    if (complete.from !== to.format) leaveOutVendorTools(complete, context)
    loseUnread(complete, context, declaration)
    written = codec.writeRequest(complete, context)
    // The thinking budget must fit the output limit that the balance affords.
    if (request.outputLimit !== undefined && (readOutputLimit(declaration, written.body, context) ?? 0) > request.outputLimit)
      written = codec.writeRequest({ ...complete, outputTokensMax: request.outputLimit }, context)
    const raised = readOutputLimit(declaration, written.body, context)
    if (dialogue.outputTokensMax && raised !== undefined && raised > dialogue.outputTokensMax) {
      raisedLimit = raised * (request.facts.completions ?? 1)
      lose(dialogue, context, 'outputTokensMax')
    }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'untranslatable') throw error
    return new UpstreamFailure('untranslatable', { own: error })
  }

  if (isHeavyBody) await yieldWithPriority()
  const takesOptions = provider.streamOptions && !hasRefused(channel, 'stream_options')
  const limited = { ...written.body, ...limitedMembers(request, provider, { ...to, body: written.body }) }
  const adjusted = adjustRequest(channel, { body: limited, ...to, caller: callerHeaders(request, channel), lose: dropped.lose })
  const body = { ...limited, ...(takesOptions ? {} : { stream_options: undefined }), ...adjusted }
  const asked = request.facts.hostedTools ?? []
  const hostedTools = carriedTools(asked, declaration, body)
  for (const tool of carriedTools(asked, declaration, written.body)) if (!hostedTools.includes(tool)) dropped.lose(tool)
  const refused = dropped.refusalFor(request) ?? unpricedOf(request, hostedTools)
  if (refused) return refused
  const translation = dropped.translationTo(to.format, hostedTools)
  setDroppedHeader(request, translation.dropped)
  const model = adjusted.model ?? written.body.model
  const names = { model: to.model, asked: request.facts.model, version }
  const overrides = ruleOverrides(setting, to.format, body, names)
  const isOverridden = Object.keys(overrides).length > 0
  const sent = isOverridden ? { ...body, ...overrides } : body
  const replied = withoutLostSearch(dialogue, hostedTools)
  const stream = written.isWhole !== true && (dialogue.stream || provider.alwaysStreams === true)
  return {
    body: Buffer.from(JSON.stringify(sent)),
    contentType: 'application/json',
    upstreamModel: typeof model === 'string' ? model : to.model,
    stream,
    translation,
    ...(isOverridden ? { sentTools: [...hostedTools, ...addedTools(declaration, body, sent)] } : {}),
    raisedLimit,
    adapter: translated(app, { request, channel, translation }, { codec, inbound, dialogue: replied, written }),
  }
}

/** The tools that the overrides of a channel add. */
function addedTools(format: FormatDeclaration, body: JsonObject, sent: JsonObject): string[] {
  const { hostedTools: before = [] } = vendorTools(format, body)
  return (vendorTools(format, sent).hostedTools ?? []).filter((tool) => !before.includes(tool))
}

/** Replies repeat the tools of the request. */
function withoutLostSearch(dialogue: Dialogue, hostedTools: readonly string[]): Dialogue {
  return dialogue.search && !hostedTools.some(isWebSearch) ? { ...dialogue, search: undefined } : dialogue
}

/** Selection only picks channels for which there is a pair. */
function pairOf(request: AdmittedRequest, format: Format): { codec: Codec; inbound: Inbound } {
  const { codec } = formats[format]
  const { inbound } = formats[request.format.format]
  if (!codec || !inbound) throw new Error(`${request.format.format} cannot be translated to ${format}`)
  return { codec, inbound }
}

/**
 * The request in its neutral form, with the sealed state that the caller could not send back restored, and without reasoning that the
 * upstream has refused.
 */
async function dialogueFor(
  app: Pick<GatewayParts, 'mediaMemory' | 'upstream'> & { readonly sealedStates: SealedStates },
  { request, shared, channel }: BegunAttempt,
  { codec, inbound, lose }: { readonly codec: Codec; readonly inbound: Inbound; lose(field: string): void },
): Promise<Dialogue> {
  const { body, facts, caller, call } = request
  shared.dialogue ??= inbound.readRequest(body.json, { model: facts.model, stream: facts.stream })
  const { dialogue } = shared
  const restored = await app.sealedStates.restore(dialogue, caller)
  const thoughts = restored.turns.flatMap(({ parts }) => parts.filter((part) => part.kind === 'reasoning'))
  const last = thoughts.findLast(({ opaque }) => opaque !== undefined)?.opaque
  if (last) shared.lastSeal = last.value
  const asked = { all: shared.leavesReasoning === true, isRefused: refusedReasoning(channel) }
  const refused = refusedThoughts(thoughts, ({ opaque }) => opaque?.value ?? '', asked)
  if ([...refused].some(({ opaque }) => opaque !== undefined)) lose(`${fieldNameFor(dialogue.from, 'turns')}.reasoning`)
  const complete = shared.leavesReasoning
    ? withoutReasoning(dialogue, () => true)
    : refused.size > 0
      ? withoutReasoning(restored, (part) => refused.has(part))
      : restored
  return inlineMedia(complete, codec.inlines, () => mediaOf(app, shared, call))
}

function withoutReasoning(dialogue: Dialogue, isLeft: (part: ReasoningPart) => boolean): Dialogue {
  const turns = dialogue.turns.map((turn) => ({
    ...turn,
    parts: turn.parts.filter((part) => part.kind !== 'reasoning' || !isLeft(part)),
  }))
  return { ...dialogue, turns: turns.filter((turn) => turn.parts.length > 0) }
}

/** The settings of site, channel and token for translated requests. */
export function settingsOf(
  { options }: Pick<GatewayParts, 'options'>,
  caller: RelayCaller,
  { setting }: RunningChannel,
): TranslationSettings {
  const { current } = options
  const refusesHostedTools =
    current['translation.refuse_hosted_tools'] || setting.refuse_hosted_tools === true || caller.refusesHostedTools
  return {
    claudeDefaultMaxTokens: current['claude.default_max_tokens'],
    claudeThinkingShare: current['claude.thinking_adapter_enabled']
      ? current['claude.thinking_adapter_budget_tokens_percentage']
      : undefined,
    geminiSafety: current['gemini.safety_settings'],
    dropsHostedTools: !refusesHostedTools,
  }
}
