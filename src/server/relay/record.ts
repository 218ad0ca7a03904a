import type { LogOther } from '../../contract/entities/log.ts'
import { logType } from '../../contract/entities/log.ts'
import type { Text } from '../../contract/text.ts'
import { completionTokens, promptTokens, type Usage } from '../../contract/usage.ts'
import type { RunningChannel } from '../channels/model-index.ts'
import { seconds } from '../lib/clock.ts'
import { costOf, type Price } from '../pricing/quote.ts'
import type { Charge } from '../wallet/ledger.ts'
import type { Billed } from './billed.ts'
import type { RelayParts } from './relay-parts.ts'

/** The channel and key that answered. */
type Answering = Pick<RunningChannel, 'id' | 'keyId'>

/** How a reply ended, as far as its charge is concerned. */
export interface Ending {
  readonly usage: Usage
  readonly isEstimated: boolean
  readonly interrupted?: 'client' | 'upstream' | 'node' | 'moderation' | undefined
}

/** The charge of a request and its log row, with every factor, so that it can be recomputed from the row alone. */
export function chargeFor(
  app: Pick<RelayParts, 'now' | 'options'>,
  work: Billed,
  channel: Answering,
  upstreamModel: string,
  ending: Ending,
): Charge {
  const nowMs = app.now()
  const { call, caller, price } = work
  const { usage } = ending
  const at = seconds(nowMs)
  const amount = costOf(price, usage)
  const tokensIn = promptTokens(usage)
  const tokensOut = completionTokens(usage)

  return {
    amount,
    at,
    channelId: channel.id,
    rollup: { username: caller.username, model: price.model, group: work.group, tokens: tokensIn + tokensOut },
    log: app.options.current.LogConsumeEnabled
      ? {
          user_id: caller.userId,
          created_at: at,
          type: logType.consume,
          content: describePrice(price),
          username: caller.username,
          token_id: caller.tokenId,
          token_name: caller.tokenName,
          model_name: price.model,
          quota: amount,
          prompt_tokens: tokensIn,
          completion_tokens: tokensOut,
          use_time: Math.max(0, Math.round((nowMs - call.startedMs) / 1000)),
          is_stream: work.facts.stream ? 1 : 0,
          channel_id: channel.id,
          group: work.group,
          request_id: call.id,
          other: JSON.stringify(factors(work, channel, upstreamModel, ending, nowMs)),
        }
      : null,
  }
}

function factors(work: Billed, channel: Answering, upstreamModel: string, ending: Ending, nowMs: number): LogOther {
  const { call, price, facts } = work
  const { usage } = ending
  return {
    model_ratio: price.modelRatio,
    completion_ratio: price.completionRatio,
    model_price: price.fixedUsd,
    group_ratio: price.groupRatio,
    cache_ratio: price.cacheRatio,
    create_cache_ratio: price.createCacheRatio,
    quota_per_unit: price.quotaPerUnit,
    input_tokens: usage.input,
    cache_tokens: usage.cacheRead,
    cache_creation_tokens: usage.cacheWrite,
    ...(usage.cacheWrite1h > 0 ? { cache_creation_1h_tokens: usage.cacheWrite1h } : {}),
    output_tokens: usage.output,
    ...(usage.reasoning > 0 ? { reasoning_tokens: usage.reasoning } : {}),
    ...apart(price, usage),
    frt: call.firstByteMs === 0 ? Math.max(0, nowMs - call.startedMs) : Math.max(0, call.firstByteMs - call.startedMs),
    use_time_ms: Math.max(0, nowMs - call.startedMs),
    ...(ending.isEstimated ? { estimated: true as const } : {}),
    ...(ending.interrupted ? { interrupted: ending.interrupted } : {}),
    ...(price.unpriced ? { unpriced: true as const } : {}),
    ...(upstreamModel === price.model ? {} : { is_model_mapped: true as const, upstream_model_name: upstreamModel }),
    ...(facts.reasoningEffort ? { reasoning_effort: facts.reasoningEffort } : {}),
    ...(work.translation ? { upstream_format: work.translation.format } : {}),
    ...(work.translation && work.translation.dropped.length > 0 ? { dropped: work.translation.dropped } : {}),
    admin_info: {
      use_channel: [...work.attempts.map((attempt) => attempt.channel), ...(work.isLost ? [] : [channel.id])].map(String),
      ...(work.attempts.length > 0 ? { attempts: [...work.attempts] } : {}),
      ...(work.choice && work.choice !== 'only' ? { choice: work.choice, key: channel.keyId } : {}),
      address: call.client.address,
    },
  }
}

/** What is not plain text in and out, with its factors, as far as there is any. */
function apart(price: Price, usage: Usage): Partial<LogOther> {
  const { audioInput, audioOutput, imageInput, imageOutput, calls, searches } = usage
  return {
    ...(audioInput > 0 || audioOutput > 0 ? { audio_ratio: price.audioRatio, audio_input: audioInput } : {}),
    ...(audioOutput > 0 ? { audio_completion_ratio: price.audioCompletionRatio, audio_output: audioOutput } : {}),
    ...(imageInput > 0 ? { image_ratio: price.imageRatio, image_input: imageInput } : {}),
    ...(imageOutput > 0 ? { image_completion_ratio: price.imageCompletionRatio, image_output: imageOutput } : {}),
    ...(calls !== 1 ? { calls } : {}),
    ...(searches > 0 ? { searches, search_price: price.searchUsd } : {}),
  }
}

/** What was charged by, for people, with what they should know besides. */
export function describePrice({ fixedUsd, modelRatio, completionRatio, groupRatio }: Price, more: readonly Text[] = []): string {
  const parts: Text[] = [
    ...(fixedUsd >= 0
      ? [{ zh: `模型价格 ${fixedUsd}`, en: `Model price ${fixedUsd}` }]
      : [
          { zh: `模型倍率 ${modelRatio}`, en: `Model ratio ${modelRatio}` },
          { zh: `补全倍率 ${completionRatio}`, en: `completion ratio ${completionRatio}` },
        ]),
    { zh: `分组倍率 ${groupRatio}`, en: `group ratio ${groupRatio}` },
    ...more,
  ]
  return `${parts.map(({ zh }) => zh).join('，')} / ${parts.map(({ en }) => en).join(', ')}`
}
