import type { RunningChannel } from '../channels/model-index.ts'
import { overrideBody } from '../channels/override.ts'
import { dialogueWithPrompt, promptOf } from '../channels/system-prompt.ts'
import { AppError } from '../lib/failure.ts'
import { isHeavy, loopTurn } from '../lib/loop-turns.ts'
import type { Codec, Inbound, WrittenRequest } from '../protocols/codec.ts'
import type { Dialogue } from '../protocols/dialogue.ts'
import type { Format } from '../protocols/format.ts'
import { codecs, inbounds } from '../protocols/index.ts'
import { readOutputLimit } from '../protocols/output-limit.ts'
import { callerHeaders } from './caller-headers.ts'
import { DroppedFields } from './dropped-fields.ts'
import { UpstreamFailure } from './failure.ts'
import { inlineMedia } from './inline-media.ts'
import type { Written } from './passage.ts'
import { limitedMembers, type RelayParts, type Work } from './relay-parts.ts'
import { refusesStreamOptions } from './second-try.ts'
import { translated } from './translated.ts'

/**
 * Writes the caller's request anew in a format of the upstream. What that cannot say is a failure of this channel only: another one may
 * speak the caller's own format. Notes in `work` what was lost on the way. Throws what is wrong with the request itself.
 */
export async function translate(
  app: RelayParts,
  work: Work,
  channel: RunningChannel,
  to: { format: Format; model: string },
): Promise<Written | UpstreamFailure> {
  const { provider, setting } = channel
  const { codec, inbound } = pairOf(work, to.format)
  const dropped = new DroppedFields(work)
  const isHeavyBody = isHeavy(work.body.bytes.length)
  let written: WrittenRequest
  let dialogue: Dialogue
  try {
    dialogue = await dialogueFor(app, work, codec, inbound)
    if (isHeavyBody) await loopTurn()
    const complete = {
      ...dialogueWithPrompt(dialogue, promptOf(setting)),
      stream: dialogue.stream || provider.alwaysStreams === true,
      wantsUsage: true,
    }
    const context = { model: to.model, quirks: provider.quirks, settings: settingsOf(app), lose: dropped.lose }
    written = codec.writeRequest(complete, context)
    // A budget for thinking is to be made for the limit that the balance affords.
    if (work.outputLimit !== undefined && (readOutputLimit(to.format, written.body, context) ?? 0) > work.outputLimit)
      written = codec.writeRequest({ ...complete, outputTokensMax: work.outputLimit }, context)
    dropped.requireAllowed(work)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'untranslatable') throw error
    return new UpstreamFailure('untranslatable', { own: error })
  }

  dropped.note(work, to.format)
  if (isHeavyBody) await loopTurn()
  const takesOptions = provider.streamOptions && !refusesStreamOptions(channel)
  const limited = { ...written.body, ...limitedMembers(work, provider, { ...to, body: written.body }) }
  const body = takesOptions ? limited : { ...limited, stream_options: undefined }
  const adjusted = provider.adjustBody?.(limited, to.format, to.model, callerHeaders(work)) ?? {}
  const model = adjusted.model ?? written.body.model
  const names = { model: to.model, asked: work.facts.model }
  const stream = written.isWhole !== true && (dialogue.stream || provider.alwaysStreams === true)
  return {
    body: Buffer.from(JSON.stringify(overrideBody({ ...body, ...adjusted }, setting.param_override, names))),
    contentType: 'application/json',
    upstreamModel: typeof model === 'string' ? model : to.model,
    stream,
    passage: translated(app, work, channel, { codec, inbound, dialogue, written }),
  }
}

/** Selection only picks channels for which there is a pair. */
function pairOf(work: Work, format: Format): { codec: Codec; inbound: Inbound } {
  const codec = codecs[format]
  const inbound = inbounds[work.format.format]
  if (!codec || !inbound) throw new Error(`${work.format.format} cannot be translated to ${format}`)
  return { codec, inbound }
}

/** The request in its neutral form, with what the caller could not send back put in its place again. */
async function dialogueFor(app: RelayParts, work: Work, codec: Codec, inbound: Inbound): Promise<Dialogue> {
  work.dialogue ??= inbound.readRequest(work.body.json, { model: work.facts.model, stream: work.facts.stream })
  const complete = work.leavesReasoning
    ? withoutReasoning(work.dialogue)
    : await app.sealedStates.restore(work.dialogue, work.caller)
  return inlineMedia(app, work, complete, codec.inlines)
}

function withoutReasoning(dialogue: Dialogue): Dialogue {
  const turns = dialogue.turns.map((turn) => ({ ...turn, parts: turn.parts.filter((part) => part.kind !== 'reasoning') }))
  return { ...dialogue, turns: turns.filter((turn) => turn.parts.length > 0) }
}

export function settingsOf({ options }: RelayParts) {
  const { current } = options
  return {
    claudeDefaultMaxTokens: current['claude.default_max_tokens'],
    claudeThinkingShare: current['claude.thinking_adapter_enabled']
      ? current['claude.thinking_adapter_budget_tokens_percentage']
      : undefined,
    geminiSafety: current['gemini.safety_settings'],
  }
}
