import type { Usage } from '../../../../contract/usage.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { CallerFormat, Format } from '../format.ts'
import type { JsonObject } from '../wire-format.ts'
import { type CallerRequest, type DirectAnswer, type DirectConversion, type DirectPlan, refused } from './conversion.ts'
import { ignoredDimensions } from './repair-embeddings.ts'

/** A caller's embedding request in neutral form. */
export interface EmbeddingRequest {
  readonly texts: readonly string[]
  /** Whether the caller sent a list, even of one text. */
  readonly isList: boolean
  readonly dimensions: number | undefined
  /** The purpose of the vectors, as Gemini names it; undefined when the caller gives none. */
  readonly task: string | undefined
  /** The caller's field name for the purpose. */
  readonly taskField: string
  /** One title for each text, or an empty list. */
  readonly titles: readonly string[]
}

export interface EmbeddingAnswer {
  /** In the order of the texts. */
  readonly vectors: readonly (readonly number[])[]
  /** Undefined when the upstream reports none. */
  readonly inputTokens: number | undefined
}

/** A request format of callers. */
export interface EmbeddingCaller {
  readonly from: CallerFormat
  /** Throws `untranslatable` for inputs other than texts. */
  read(asked: CallerRequest): EmbeddingRequest
  write(answer: EmbeddingAnswer, asked: CallerRequest): JsonObject
  writeUsage(billed: Usage): JsonObject
}

/** A request format of upstreams. */
export interface EmbeddingHost {
  readonly to: Format
  /** Accepts only lists. */
  readonly listsOnly?: true
  /** Throws `untranslatable`, for example for unsupported dimensions. */
  write(ask: EmbeddingRequest, asked: CallerRequest): JsonObject[]
  /** Undefined if a reply has no valid vectors. */
  read(replies: readonly JsonObject[]): EmbeddingAnswer | undefined
}

/**
 * The conversions from every other format of callers to that of an upstream, each composed of the two sides; no code is specific to a
 * pair.
 */
export function embeddingConversions(callers: readonly EmbeddingCaller[], host: EmbeddingHost): readonly DirectConversion[] {
  return callers.flatMap((caller) => (host.to === caller.from ? [] : [pairOf(caller, host)]))
}

function pairOf(caller: EmbeddingCaller, host: EmbeddingHost): DirectConversion {
  return {
    from: caller.from,
    to: host.to,
    ...(host.listsOnly ? { fits: (body: JsonObject) => Array.isArray(body.input) || Array.isArray(body.requests) } : {}),
    convert(asked): DirectPlan {
      const ask = caller.read(asked)
      const bodies = host.write(ask, asked)
      if (bodies.length > requestsMax) fail('untranslatable', { field: 'input', reason: tooMany })
      return {
        requests: bodies.map((json) => ({ json })),
        read: (replies) => answerOf(ask, host.read(replies), (answer) => caller.write(answer, asked)),
        writeUsage: (billed) => caller.writeUsage(billed),
      }
    },
  }
}

/** The maximum number of upstream requests for one call, if the upstream accepts only one text at a time, or few. */
const requestsMax = 100
const tooMany = {
  zh: `上游每次只接受少量文本，一次请求最多分成 ${requestsMax} 个`,
  en: `the upstream takes few texts at a time; one request is divided into ${requestsMax} at most`,
}

function answerOf(
  { texts, dimensions }: EmbeddingRequest,
  answer: EmbeddingAnswer | undefined,
  write: (answer: EmbeddingAnswer) => JsonObject,
): DirectAnswer {
  if (!answer) return refused('the answer holds no vectors')
  const { vectors } = answer
  if (vectors.length !== texts.length) return refused(`it gave ${vectors.length} vectors for ${texts.length} texts`)
  const odd = vectors.find(({ length }) => dimensions !== undefined && length !== dimensions)
  if (odd) fail('untranslatable', { field: 'dimensions', reason: ignoredDimensions(odd.length) })
  return { kind: 'json', body: write(answer) }
}

/** The sum of the reported numbers; undefined when one is missing. */
export function sumOfTokens(counts: readonly (number | undefined)[]): number | undefined {
  return counts.reduce<number | undefined>(
    (sum, count) => (sum === undefined || count === undefined ? undefined : sum + count),
    0,
  )
}

/** A reported count; undefined when it is absent or negative. */
export function reportedCount(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined
}
