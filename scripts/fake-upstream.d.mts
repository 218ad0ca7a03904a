import type { IncomingHttpHeaders, ServerResponse } from 'node:http'

/** How requests for a model are answered. Everything is optional; without a program the provider behaves. */
export interface Program {
  /** Answer with this status and, unless `body` or `bytes` is given, an error of the dialect. */
  status?: number
  headers?: Record<string, string>
  /** Answer this instead: text as it is, anything else as JSON. */
  body?: unknown
  /** Answer these bytes, for example those of a fixture file. */
  bytes?: Uint8Array | string
  contentType?: string
  /** Size of every write; 1 is byte by byte, 0 (the default) one write per event. */
  pieceBytes?: number
  /** Wait between writes. */
  pauseMs?: number
  /** Wait before the headers. */
  delayMs?: number
  /** Send this many events, then nothing, with the connection open. 0 sends only the headers. */
  stallAfterEvents?: number
  /** Send this many events, then cut the connection. */
  cutAfterEvents?: number
  /** Send this many events, then an error event and the end. */
  errorAfterEvents?: number
  /** Close the connection instead of answering. */
  hangUp?: boolean
  /** An error object under status 200. */
  errorIn200?: boolean
  /** A 401 whose message repeats the key that it was sent. */
  echoKey?: boolean
  /** Answer compressed, whether or not the request accepts it. */
  gzip?: boolean
  /** A 302 to this address. */
  redirect?: string
  /** A comment line of this size before the first event. */
  hugeLineBytes?: number
  /** Leave the usage out. */
  noUsage?: boolean
  /** Report these numbers instead of the counted ones. `prompt` includes `cached` and `cacheWrite`. */
  usage?: { prompt?: number; completion?: number; cached?: number; cacheWrite?: number; reasoning?: number }
  /** Reply with this many words (word1 word2 …) instead of repeating the last line of the prompt. */
  words?: number
}

/** One request as it arrived, and what was actually sent back. */
export interface Entry {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  // biome-ignore lint/suspicious/noExplicitAny: what a client sent, for assertions of any shape
  readonly json: any
  readonly model: string | undefined
  readonly status: number
  /** Output words whose event was handed to the connection. */
  readonly wordsSent: number
  readonly bytesSent: number
  /** The whole answer was handed to the connection. */
  readonly finished: boolean
  /** The caller closed the connection before the end. */
  readonly aborted: boolean
  /** Resolves when the exchange is over, either way. */
  readonly ended: Promise<void>
}

/** Decides per request; returns nothing when it answered by itself. */
export type Answer = (entry: Entry, response: ServerResponse) => Program | undefined | Promise<Program | undefined>

export interface Settings {
  /** The address to listen on; 127.0.0.1 by default. */
  host?: string
  port?: number
  /** What `GET /v1/models` lists. */
  models?: readonly string[]
  /** Programs by model name; `*` is for every model without its own. */
  programs?: Record<string, Program | readonly Program[] | Answer>
}

export interface FakeUpstream {
  readonly url: string
  readonly journal: readonly Entry[]
  /** How many connections were opened so far. */
  readonly connections: number
  program(model: string, wanted: Program | readonly Program[] | Answer): void
  /** Waits until this many requests have arrived and ended. */
  waitFor(count: number): Promise<readonly Entry[]>
  stop(): Promise<void>
}

export declare function startFakeUpstream(settings?: Settings): Promise<FakeUpstream>
/** One word is one token of the simulated provider. */
export declare function countWords(text: string): number
/** All text of a request body that counts as its prompt. */
export declare function promptText(body: unknown): string
