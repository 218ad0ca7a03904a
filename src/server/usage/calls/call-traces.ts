import type { IncomingHttpHeaders } from 'node:http'

/**
 * The traces of calls, on a server that sends traces or metrics to a collector (`telemetry/`). The relay begins the spans and passes the trace on to
 * upstreams; the observer of ended calls ends them.
 */
export interface CallTracer {
  begin(call: BeginningCall): CallTrace
}

export interface BeginningCall {
  /** Contains `traceparent` if the caller sends traces. */
  readonly headers: IncomingHttpHeaders
  /** The caller's wire format; 'other' for calls without one. */
  readonly format: string
  readonly startedMs: number
}

export interface CallTrace {
  /** The trace id, in 32 hex digits; '' if only metrics are sent. */
  readonly id: string
  attempt(channel: TracedChannel, startedMs: number): AttemptTrace
}

export interface AttemptTrace {
  /** The headers by which an upstream continues the trace. */
  headersTo(url: URL): Readonly<Record<string, string>>
  /** Records the model that a reply or one of its events names ('' if it names none), and the finish reasons of its answers. */
  noteReply(model: string, finishReasons: readonly (readonly [answer: number, reason: string])[]): void
}

/** A channel as it is named in traces. */
export interface TracedChannel {
  readonly id: number
  readonly keyId: number
  readonly name: string
  readonly provider: { readonly key: string; readonly traceName?: string }
}
