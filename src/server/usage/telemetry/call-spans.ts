import {
  type Attributes,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { redact } from '../../lib/logger.ts'
import type { AttemptTrace, BeginningCall, CallTrace, CallTracer, TracedChannel } from '../call-traces.ts'
import { type CallObserver, type EndedAttempt, type EndedCall, type ObservedCall, pathOf } from '../ended-calls.ts'

/**
 * A span for each call and one for each of its attempts, by the semantic conventions of OpenTelemetry for HTTP and generative AI;
 * attributes without a name there begin with `sluice.`. They contain nothing of prompts, answers or keys, and no error message of a
 * vendor, which may quote the prompt.
 */
export class CallSpans implements CallTracer, CallObserver {
  readonly #tracer: Tracer

  constructor(tracer: Tracer) {
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

class CallSpan implements CallTrace {
  readonly #tracer: Tracer
  readonly #span: Span
  readonly #operation: string | undefined
  readonly id: string

  constructor(tracer: Tracer, span: Span, operation: string | undefined) {
    this.id = span.spanContext().traceId
    this.#tracer = tracer
    this.#span = span
    this.#operation = operation
  }

  attempt({ id, keyId, name, provider }: TracedChannel, startedMs: number): AttemptTrace {
    const attributes = {
      ...operationOf(this.#operation),
      'gen_ai.provider.name': provider.traceName ?? provider.key,
      'sluice.channel.id': id,
      'sluice.channel.name': plain(name),
      'sluice.channel.key_id': keyId,
    }
    const options = { kind: SpanKind.CLIENT, startTime: startedMs, attributes }
    const span = this.#tracer.startSpan(this.#operation ?? 'attempt', options, trace.setSpan(ROOT_CONTEXT, this.#span))
    return new AttemptSpan(span, this.#operation)
  }

  end(call: EndedCall): void {
    const span = this.#span
    if (span.isRecording()) {
      // A group is only set once the model is known: otherwise the caller's text is not the name of a model.
      const model = call.group === '' ? '' : plain(call.model)
      span.updateName(`${this.#operation ?? `${call.method} ${call.kind}`} ${model}`.trim())
      span.setAttributes(attributesOf(call, model))
      if (call.failure && (call.status >= 500 || call.failure.inStream)) span.setStatus({ code: SpanStatusCode.ERROR })
    }
    span.end(call.startedMs + call.durationMs)
  }
}

class AttemptSpan implements AttemptTrace {
  readonly #span: Span
  readonly #operation: string | undefined
  #model = ''
  readonly #finishReasons = new Map<number, string>()

  constructor(span: Span, operation: string | undefined) {
    this.#span = span
    this.#operation = operation
  }

  headersTo({ hostname, port, protocol }: URL): Readonly<Record<string, string>> {
    const standard = protocol === 'http:' || protocol === 'ws:' ? 80 : 443
    this.#span.setAttributes({ 'server.address': hostname, 'server.port': Number(port) || standard })
    const headers: Record<string, string> = {}
    propagator.inject(trace.setSpan(ROOT_CONTEXT, this.#span), headers, defaultTextMapSetter)
    return headers
  }

  noteReply(model: string, finishReasons: readonly (readonly [number, string])[]): void {
    if (this.#model === '') this.#model = model
    for (const [answer, reason] of finishReasons)
      if (this.#finishReasons.size < reasonsMax) this.#finishReasons.set(answer, reason)
  }

  /** Attributes of the reply, as far as the upstream has reported them. */
  get replied(): Attributes {
    return {
      ...(this.#model === '' ? {} : { 'gen_ai.response.model': plain(this.#model) }),
      ...(this.#finishReasons.size === 0
        ? {}
        : { 'gen_ai.response.finish_reasons': [...this.#finishReasons.values()].map(plain) }),
    }
  }

  end(attempt: EndedAttempt, notes: ObservedCall['notes']): void {
    const { model, upstreamModel, choice, status, reason, kind, firstByteMs, startedMs, ms } = attempt
    const span = this.#span
    if (span.isRecording()) {
      const asked = plain(upstreamModel === '' ? model : upstreamModel)
      span.updateName(`${this.#operation ?? 'attempt'} ${asked}`.trim())
      span.setAttributes({ 'gen_ai.request.model': asked, 'sluice.choice': choice })
      if (status > 0) span.setAttribute('http.response.status_code', status)
      if (reason === '') {
        span.setAttributes({ ...this.replied, ...usageOf(notes), ...firstChunkOf(firstByteMs) })
      } else {
        span.setAttribute('error.type', status >= 400 ? String(status) : (kind ?? (word.test(reason) ? reason : '_OTHER')))
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
  ['openai.realtime', 'realtime'],
  ['rerank', 'rerank'],
])

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

function usageOf({ tokensIn, tokensOut }: Pick<EndedCall, 'tokensIn' | 'tokensOut'>): Attributes {
  return tokensIn + tokensOut === 0 ? {} : { 'gen_ai.usage.input_tokens': tokensIn, 'gen_ai.usage.output_tokens': tokensOut }
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
