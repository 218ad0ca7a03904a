import type { Attributes, Histogram, Meter } from '@opentelemetry/api'
import type { CallKind, CallObserver, EndedAttempt, EndedCall } from '../calls/ended-calls.ts'
import { AttemptSpan, CallSpan, errorTypeOf, modelOf } from './call-spans.ts'

/**
 * The metrics of the conventions for generative AI: those of a client for attempts on channels, and those of a server for calls. They are
 * sent to the collector alone, beside the metrics of `/metrics`, because backends have dashboards for their names. The SDK bounds
 * the series of each.
 */
export class GenAiMetrics implements CallObserver {
  readonly #clientDuration: Histogram
  readonly #clientTokens: Histogram
  readonly #serverDuration: Histogram
  readonly #timeToFirstToken: Histogram
  readonly #timePerOutputToken: Histogram

  constructor(meter: Meter) {
    const seconds = (name: string, description: string, explicitBucketBoundaries: number[]) =>
      meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries } })

    this.#clientDuration = seconds('gen_ai.client.operation.duration', 'Duration of attempts on channels', durationBounds)
    this.#clientTokens = meter.createHistogram('gen_ai.client.token.usage', {
      description: 'Tokens of calls, as charged',
      unit: '{token}',
      advice: { explicitBucketBoundaries: tokenBounds },
    })
    this.#serverDuration = seconds('gen_ai.server.request.duration', 'Duration of calls', durationBounds)
    this.#timeToFirstToken = seconds(
      'gen_ai.server.time_to_first_token',
      'Time to the first byte of streamed answers',
      firstTokenBounds,
    )
    this.#timePerOutputToken = seconds(
      'gen_ai.server.time_per_output_token',
      'Time per output token of streamed answers, after the first',
      perTokenBounds,
    )
  }

  attemptEnded(attempt: EndedAttempt): void {
    const { trace, ms } = attempt
    if (trace instanceof AttemptSpan && isTimed(trace.operation))
      this.#clientDuration.record(ms / 1000, { ...trace.description(attempt), 'error.type': errorTypeOf(attempt) })
  }

  callEnded(call: EndedCall): void {
    const { attempts, kind, trace } = call
    if (!(trace instanceof CallSpan) || trace.operation === undefined || !generating.has(kind)) return
    const last = attempts.at(-1)
    const span = last?.trace instanceof AttemptSpan ? last.trace : undefined
    if (last && span) this.#recordTokens(call, span.description(last))
    if (isTimed(trace.operation)) this.#recordTimes(call, { operation: trace.operation, span })
  }

  #recordTokens({ tokensIn, tokensOut }: EndedCall, attributes: Attributes): void {
    if (tokensIn > 0) this.#clientTokens.record(tokensIn, { ...attributes, 'gen_ai.token.type': 'input' })
    if (tokensOut > 0) this.#clientTokens.record(tokensOut, { ...attributes, 'gen_ai.token.type': 'output' })
  }

  #recordTimes(call: EndedCall, { operation, span }: { operation: string; span: AttemptSpan | undefined }): void {
    const { durationMs, failure, firstByteMs, status, tokensOut } = call
    const attributes = {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': span?.provider ?? ownProvider,
      'gen_ai.request.model': modelOf(call) || undefined,
      ...(failure ? {} : span?.responseModel),
    }
    this.#serverDuration.record(durationMs / 1000, failure ? { ...attributes, 'error.type': String(status) } : attributes)
    if (failure || firstByteMs === undefined) return
    this.#timeToFirstToken.record(firstByteMs / 1000, attributes)
    if (tokensOut > 1) this.#timePerOutputToken.record((durationMs - firstByteMs) / 1000 / (tokensOut - 1), attributes)
  }
}

/** Not counts of tokens and reads of stored responses, nor the connection over which responses are requested. */
const generating: ReadonlySet<CallKind> = new Set(['relay', 'background'])

/** The provider of calls that no channel was tried for. */
const ownProvider = 'sluice'

/** A realtime session lasts as long as its caller talks. */
function isTimed(operation: string | undefined): operation is string {
  return operation !== undefined && operation !== 'realtime'
}

/** Bounds that the conventions prescribe. Durations are in seconds. */
const durationBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const tokenBounds = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864]
const firstTokenBounds = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const perTokenBounds = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5]
