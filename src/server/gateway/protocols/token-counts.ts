import type { CallerFormat, Format } from './format.ts'
import { countAt, isObject, type JsonObject } from './wire-format.ts'

/** How a format of callers counts tokens: its body is a request for an answer, and its reply is one number. */
export interface CallerCount {
  /** The format of the request that is counted. */
  readonly of: CallerFormat
  /** The counted request, with the members that its reader requires. */
  readRequest(body: JsonObject): JsonObject
  /** The texts of the prompt, and the overhead in tokens around them. */
  readPrompt(body: JsonObject, texts: readonly string[]): { readonly texts: readonly string[]; readonly around: number }
  writeReply(tokens: number): JsonObject
}

/** How an upstream counts the tokens of requests in one of its formats. Source: protocols notes 1.12, 1.13, 2.6, 2.7 and 5.2. */
export interface UpstreamCount {
  readonly of: Format
  /** Writes the count request for a request that would get an answer. */
  writeRequest(request: JsonObject, model: string): JsonObject
  /** Undefined for an invalid count. */
  readReply(reply: JsonObject): number | undefined
}

/** The output limit of counted requests where the vendor requires one, which does not affect the count. */
export const countedOutputTokens = 1024

/** The count in a reply; undefined when it has none. */
export function tokensAt(reply: unknown, key: string): number | undefined {
  return isObject(reply) && typeof reply[key] === 'number' ? countAt(reply, key) : undefined
}
