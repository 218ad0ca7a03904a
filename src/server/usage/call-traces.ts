import type { IncomingHttpHeaders } from 'node:http'

/**
 * The traces of calls, on a server that sends any (`telemetry/`). The relay begins what it does and passes the trace on to upstreams; the
 * observer of ended calls ends it.
 */
export interface CallTracer {
  begin(call: BeginningCall): CallTrace
}

export interface BeginningCall {
  /** With the `traceparent` of a caller who traces. */
  readonly headers: IncomingHttpHeaders
  /** The caller's wire format; 'other' for calls that have none. */
  readonly format: string
  readonly startedMs: number
}

export interface CallTrace {
  /** The trace id, in 32 hex digits. */
  readonly id: string
  attempt(channel: TracedChannel, startedMs: number): AttemptTrace
}

export interface AttemptTrace {
  /** The headers by which an upstream continues the trace. */
  headersTo(url: URL): Readonly<Record<string, string>>
  /** What a reply, or an event of it, says of its model ('' for nothing), and why which of its answers has ended. */
  noteReply(model: string, finishReasons: readonly (readonly [answer: number, reason: string])[]): void
}

/** A channel as traces name it. */
export interface TracedChannel {
  readonly id: number
  readonly keyId: number
  readonly name: string
  readonly provider: { readonly key: string; readonly traceName?: string }
}
