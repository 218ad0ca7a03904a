import { promptTokens } from '../../../../contract/usage.ts'
import { spliceMembers } from '../../../base/lib/bytes/splice-json.ts'
import { AppError } from '../../../base/lib/failure.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { isHeavy, yieldWithPriority } from '../../../base/lib/time/yield-to-event-loop.ts'
import type { RunningChannel } from '../../channels/index/model-index.ts'
import { overrideBody } from '../../channels/request/override.ts'
import type { DirectAnswer, DirectConversion, DirectPlan, DirectRequest } from '../../protocols/direct/conversion.ts'
import type { JsonObject } from '../../protocols/wire-format.ts'
import { adjustRequest } from '../../providers/adjust-request.ts'
import type { AdmittedRequest } from '../admission/admitted-request.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import { UpstreamFailure } from '../upstream/failure.ts'
import { inlineImages, mediaOf } from '../upstream/fetch-media.ts'
import type { Delivered, MultiTarget } from '../upstream/multi-exchange.ts'
import { callerHeaders } from '../upstream/request-target.ts'
import type { ResponseAdapter, Written, WrittenFacts } from './adapter.ts'
import type { BegunAttempt } from './attempt-state.ts'
import { DroppedFields, setDroppedHeader } from './losses.ts'
import { passThrough, repliesIn } from './pass-through.ts'
import { settingsOf } from './translate.ts'

/** A call in another vendor's format: its requests, and the function that combines their replies. */
export interface Converted extends WrittenFacts {
  readonly requests: readonly Written[]
  readonly adapter: ResponseAdapter
  readonly steps: Pick<MultiTarget, 'takesSome' | 'pendingTask' | 'finish'>
}

/**
 * Converts a call other than a conversation to the vendor's own format. A request that this format cannot carry is a failure of
 * this channel only. Lists dropped fields in a header of the answer. Throws for an invalid request.
 */
export async function convert(
  app: Pick<GatewayParts, 'mediaMemory' | 'now' | 'options' | 'upstream'>,
  attempt: BegunAttempt,
  { conversion, model }: { conversion: DirectConversion; model: string },
): Promise<Converted | UpstreamFailure> {
  const { request: admitted, shared, channel } = attempt
  const dropped = new DroppedFields(admitted)
  const addresses = conversion.addressesIn?.(admitted.body.json) ?? []
  let plan: DirectPlan
  try {
    plan = conversion.convert({
      body: admitted.body.json,
      files: admitted.body.form?.files ?? [],
      model: admitted.facts.model,
      upstreamModel: model,
      createdAt: seconds(app.now()),
      stream: admitted.facts.stream,
      quirks: channel.provider.quirks,
      settings: settingsOf(app, admitted.caller, channel),
      fetched: addresses.length > 0 ? await mediaOf(app, shared, admitted.call).at(addresses) : new Map(),
      lose: dropped.lose,
    })
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'untranslatable') throw error
    return new UpstreamFailure('untranslatable', { own: error })
  }

  const refused = dropped.refusalFor(admitted)
  if (refused) return refused
  const translation = dropped.translationTo(conversion.to, admitted.facts.hostedTools ?? [])
  setDroppedHeader(admitted, translation.dropped)
  const adapter = adapterFor(admitted, plan)
  const write = (request: DirectRequest) => writtenOf(admitted, channel, { request, conversion, model, adapter })
  if (isHeavy(admitted.body.bytes.length)) await yieldWithPriority()
  const requests = eachOnce(plan.requests, write)
  return {
    requests,
    upstreamModel: requests[0]?.upstreamModel ?? model,
    translation,
    adapter,
    steps: {
      takesSome: plan.takesSome === true,
      pendingTask: (reply) => plan.pendingTask?.(reply),
      finish: async (replies) => deliver(app, plan, answerOf(plan, replies)),
    },
  }
}

/** Calls with the same content share one body: a body with images is several megabytes. */
function eachOnce(requests: readonly DirectRequest[], write: (request: DirectRequest) => Written): Written[] {
  const written = new Map<unknown, Written>()
  return requests.map((request) => {
    const content = 'json' in request ? request.json : request.bytes
    const made = written.get(content) ?? write(request)
    written.set(content, made)
    return made
  })
}

function writtenOf(
  admitted: AdmittedRequest,
  channel: RunningChannel,
  made: { request: DirectRequest; conversion: DirectConversion; model: string; adapter: ResponseAdapter },
): Written {
  const { request, conversion, model, adapter } = made
  const shared = { stream: false, adapter }
  if ('bytes' in request) return { ...shared, body: request.bytes, contentType: request.contentType, upstreamModel: model }
  const caller = callerHeaders(admitted)
  const adjusted = adjustRequest(channel, { body: request.json, format: conversion.to, model, caller })
  const names = { model, asked: admitted.facts.model }
  const body = overrideBody({ ...request.json, ...adjusted }, channel.setting.param_override, names)
  return {
    ...shared,
    body: Buffer.from(JSON.stringify(body)),
    contentType: 'application/json',
    upstreamModel: typeof adjusted.model === 'string' ? adjusted.model : model,
  }
}

/** The answer already has the caller's format; only the usage may be missing. */
function adapterFor(admitted: AdmittedRequest, { writeUsage }: DirectPlan): ResponseAdapter {
  const passes = passThrough(admitted, { hideUsage: false, renameTo: undefined })
  if (!writeUsage || repliesIn(admitted) !== 'json') return passes
  return {
    ...passes,
    readWhole(body, contentType) {
      const whole = passes.readWhole(body, contentType)
      if (whole.usage && promptTokens(whole.usage) > 0) return whole
      return { ...whole, write: (billed) => spliceMembers(whole.write(billed), textsOf(writeUsage(billed))) }
    },
  }
}

function textsOf(members: JsonObject): Record<string, string> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)]))
}

function answerOf(plan: DirectPlan, replies: readonly JsonObject[]): DirectAnswer {
  try {
    return plan.read(replies)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'untranslatable') throw error
    throw new UpstreamFailure('untranslatable', { own: error })
  }
}

async function deliver(
  app: Pick<GatewayParts, 'mediaMemory' | 'upstream'>,
  plan: DirectPlan,
  answer: DirectAnswer,
): Promise<Delivered> {
  switch (answer.kind) {
    case 'json': {
      const body = plan.inlinesImages ? await inlineImages(app, answer.body) : answer.body
      return { contentType: 'application/json', body: Buffer.from(JSON.stringify(body)), usage: answer.usage }
    }
    case 'text':
      return { contentType: 'text/plain; charset=utf-8', body: Buffer.from(answer.text), usage: answer.usage }
    case 'bytes':
      return { contentType: answer.contentType, body: answer.bytes, usage: answer.usage }
    case 'events':
      return { contentType: 'text/event-stream; charset=utf-8', body: Buffer.from(answer.text), usage: undefined }
    case 'refused': {
      const { status } = answer.error
      throw new UpstreamFailure(status === 0 ? 'bad-reply' : 'status', { status, facts: answer.error })
    }
  }
}
