import {
  type Attributes,
  defaultTextMapGetter,
  defaultTextMapSetter,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { cachedTokens, type Usage, writtenTokens } from '../../../contract/usage.ts'
import { redact } from '../../base/lib/log/logger.ts'
import type { AttemptTrace, BeginningCall, CallTrace, CallTracer, TracedChannel } from '../calls/call-traces.ts'
import { type CallObserver, type EndedAttempt, type EndedCall, type ObservedCall, pathOf } from '../calls/ended-calls.ts'

/**
 * A span for each call and one for each of its attempts, by the semantic conventions of OpenTelemetry for HTTP and generative AI;
 * attributes without a name there begin with `sluice.`. They contain nothing of prompts, answers or keys, and no error message of a
 * vendor, which may quote the prompt.
 */
export class CallSpans implements CallTracer, CallObserver {
  readonly #tracer: SpanStarter

  /** Without a tracer spans only collect what metrics are described by: nothing is recorded, and no trace is continued. */
  constructor(tracer: SpanStarter = noTracer) {
    this.#tracer = tracer
  }

  begin({ headers, format, startedMs }: BeginningCall): CallTrace {
    const from = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter)
    const operation = operations.get(format)
    const name = operation ?? 'call'
    const span = this.#tracer.startSpan(
      name,
      { kind: SpanKind.SERVER, startTime: startedMs, attributes: operationOf(operation) },
      from,
    )
    return new CallSpan(this.#tracer, span, operation)
  }

  callEnded(call: EndedCall): void {
    if (call.trace instanceof CallSpan) call.trace.end(call)
  }

  attemptEnded(attempt: EndedAttempt, { notes }: ObservedCall): void {
    if (attempt.trace instanceof AttemptSpan) attempt.trace.end(attempt, notes)
  }
}

type SpanStarter = Pick<Tracer, 'startSpan'>

const noTracer: SpanStarter = { startSpan: () => trace.wrapSpanContext(INVALID_SPAN_CONTEXT) }

export class CallSpan implements CallTrace {
  readonly #tracer: SpanStarter
  readonly #span: Span
  /** The operation by the conventions; undefined for calls without generation. */
  readonly operation: string | undefined
  readonly id: string

  constructor(tracer: SpanStarter, span: Span, operation: string | undefined) {
    const context = span.spanContext()
    this.id = isSpanContextValid(context) ? context.traceId : ''
    this.#tracer = tracer
    this.#span = span
    this.operation = operation
  }

  attempt({ id, keyId, name, provider }: TracedChannel, startedMs: number): AttemptTrace {
    const providerName = provider.traceName ?? provider.key
    const attributes = {
      ...operationOf(this.operation),
      'gen_ai.provider.name': providerName,
      'sluice.channel.id': id,
      'sluice.channel.name': plain(name),
      'sluice.channel.key_id': keyId,
    }
    const options = { kind: SpanKind.CLIENT, startTime: startedMs, attributes }
    const span = this.#tracer.startSpan(this.operation ?? 'attempt', options, trace.setSpan(ROOT_CONTEXT, this.#span))
    return new AttemptSpan(span, { operation: this.operation, provider: providerName })
  }

  end(call: EndedCall): void {
    const span = this.#span
    if (span.isRecording()) {
      const model = modelOf(call)
      span.updateName(`${this.operation ?? `${call.method} ${call.kind}`} ${model}`.trim())
      span.setAttributes(attributesOf(call, model))
      if (call.failure && (call.status >= 500 || call.failure.inStream)) span.setStatus({ code: SpanStatusCode.ERROR })
    }
    span.end(call.startedMs + call.durationMs)
  }
}

export class AttemptSpan implements AttemptTrace {
  readonly #span: Span
  readonly operation: string | undefined
  readonly provider: string
  #server: Attributes = {}
  #model = ''
  readonly #finishReasons = new Map<number, string>()

  constructor(span: Span, { operation, provider }: { readonly operation: string | undefined; readonly provider: string }) {
    this.#span = span
    this.operation = operation
    this.provider = provider
  }

  headersTo({ hostname, port, protocol }: URL): Readonly<Record<string, string>> {
    const standard = protocol === 'http:' || protocol === 'ws:' ? 80 : 443
    this.#server = { 'server.address': hostname, 'server.port': Number(port) || standard }
    this.#span.setAttributes(this.#server)
    const headers: Record<string, string> = {}
    propagator.inject(trace.setSpan(ROOT_CONTEXT, this.#span), headers, defaultTextMapSetter)
    return headers
  }

  noteReply(model: string, finishReasons: readonly (readonly [number, string])[]): void {
    if (this.#model === '') this.#model = model
    for (const [answer, reason] of finishReasons)
      if (this.#finishReasons.size < reasonsMax) this.#finishReasons.set(answer, reason)
  }

  /** What the metrics of an attempt are described by: the upstream, the model that it was asked for, and the one that answered. */
  description(attempt: EndedAttempt): Attributes {
    return {
      ...operationOf(this.operation),
      'gen_ai.provider.name': this.provider,
      'gen_ai.request.model': askedModel(attempt),
      ...this.#server,
      ...(attempt.reason === '' ? this.responseModel : {}),
    }
  }

  get responseModel(): Attributes {
    return this.#model === '' ? {} : { 'gen_ai.response.model': plain(this.#model) }
  }

  /** Attributes of the reply, as far as the upstream has reported them. */
  get replied(): Attributes {
    return {
      ...this.responseModel,
      ...(this.#finishReasons.size === 0
        ? {}
        : { 'gen_ai.response.finish_reasons': [...this.#finishReasons.values()].map(plain) }),
    }
  }

  end(attempt: EndedAttempt, notes: ObservedCall['notes']): void {
    const { choice, status, firstByteMs, startedMs, ms } = attempt
    const span = this.#span
    if (span.isRecording()) {
      const asked = askedModel(attempt)
      span.updateName(`${this.operation ?? 'attempt'} ${asked}`.trim())
      span.setAttributes({ 'gen_ai.request.model': asked, 'sluice.choice': choice })
      if (status > 0) span.setAttribute('http.response.status_code', status)
      const error = errorTypeOf(attempt)
      if (error === undefined) {
        span.setAttributes({ ...this.replied, ...usageOf(notes), ...firstChunkOf(firstByteMs) })
      } else {
        span.setAttribute('error.type', error)
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
    }
    span.end(startedMs + ms)
  }
}

const propagator = new W3CTraceContextPropagator()

/**
 * The operation of a caller's format, for calls of generative AI. Operations that the conventions lack are named in their style.
 */
const operations: ReadonlyMap<string, string> = new Map([
  ['openai.chat', 'chat'],
  ['openai.responses', 'chat'],
  ['anthropic.messages', 'chat'],
  ['gemini.generate', 'generate_content'],
  ['gemini.interactions', 'generate_content'],
  ['openai.completions', 'text_completion'],
  ['openai.embeddings', 'embeddings'],
  ['gemini.embed', 'embeddings'],
  ['gemini.batch_embed', 'embeddings'],
  ['openai.images', 'image_generation'],
  ['openai.image-edits', 'image_generation'],
  ['openai.image-variations', 'image_generation'],
  ['gemini.predict', 'image_generation'],
  ['openai.speech', 'speech'],
  ['openai.transcriptions', 'transcription'],
  ['openai.translations', 'transcription'],
  ['openai.moderations', 'moderation'],
  ['openai.decisions', 'decision'],
  ['openai.realtime', 'realtime'],
  ['rerank', 'rerank'],
])

/** The requested model; '' if the call ended before it was known: a group is only set once it is. */
export function modelOf({ group, model }: Pick<EndedCall, 'group' | 'model'>): string {
  return group === '' ? '' : plain(model)
}

function askedModel({ model, upstreamModel }: EndedAttempt): string {
  return plain(upstreamModel === '' ? model : upstreamModel)
}

/** Undefined for an attempt that answered. */
export function errorTypeOf({ status, reason, kind }: EndedAttempt): string | undefined {
  if (reason === '') return undefined
  return status >= 400 ? String(status) : (kind ?? (word.test(reason) ? reason : '_OTHER'))
}

function operationOf(operation: string | undefined): Attributes {
  return operation === undefined ? {} : { 'gen_ai.operation.name': operation }
}

function attributesOf(call: EndedCall, model: string): Attributes {
  const { caller, failure, attempts } = call
  const last = attempts.at(-1)
  return {
    'http.request.method': call.method,
    'url.path': plain(pathOf(call.url)),
    'http.response.status_code': call.status,
    'http.request.body.size': call.bytesIn,
    'http.response.body.size': call.bytesOut,
    'client.address': call.address,
    'user_agent.original': plain(call.userAgent),
    ...(model === '' ? {} : { 'gen_ai.request.model': model, 'gen_ai.request.stream': call.stream }),
    ...(last?.trace instanceof AttemptSpan && last.reason === '' ? last.trace.replied : {}),
    ...usageOf(call),
    ...firstChunkOf(call.firstByteMs),
    ...(failure ? { 'error.type': plain(failure.code) } : {}),
    'sluice.request.id': call.id,
    'sluice.user.id': caller.userId,
    'sluice.token.id': caller.tokenId,
    'sluice.group': call.group,
    'sluice.channel.id': last?.channel.id,
    'sluice.attempts': attempts.length,
    'sluice.kind': call.kind,
    'sluice.format': call.format,
    'sluice.quota': call.quota,
    'sluice.queue_ms': call.queueMs,
    'sluice.hold_ms': call.holdMs,
    'sluice.commit_ms': call.commitMs,
  }
}

/** By the conventions cached and written tokens are part of the input, and reasoning is part of the output. */
function usageOf({ tokensIn, tokensOut, usages }: Pick<EndedCall, 'tokensIn' | 'tokensOut' | 'usages'>): Attributes {
  if (tokensIn + tokensOut === 0) return {}
  const sumOf = (tokens: (usage: Usage) => number) => usages.reduce((sum, usage) => sum + tokens(usage), 0) || undefined
  return {
    'gen_ai.usage.input_tokens': tokensIn,
    'gen_ai.usage.output_tokens': tokensOut,
    'gen_ai.usage.cache_read.input_tokens': sumOf(cachedTokens),
    'gen_ai.usage.cache_creation.input_tokens': sumOf(writtenTokens),
    'gen_ai.usage.reasoning.output_tokens': sumOf(({ reasoning }) => reasoning),
  }
}

/** In seconds, as the conventions require. */
function firstChunkOf(firstByteMs: number | undefined): Attributes {
  return firstByteMs === undefined ? {} : { 'gen_ai.response.time_to_first_chunk': firstByteMs / 1000 }
}

const word = /^[a-z_]{1,40}$/
/** Limit of finish reasons: one for each requested answer. */
const reasonsMax = 16
const textMax = 200

/** Shortens and redacts a text that the caller or an operator chose. */
function plain(text: string): string {
  return redact(text.slice(0, 2 * textMax))
    .slice(0, textMax)
    .toWellFormed()
}
