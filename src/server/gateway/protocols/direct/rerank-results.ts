import { arrayAt, countAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/** One result of a ranking, in the form sent to callers. */
interface Result {
  /** The document's index in the request. */
  readonly index: number
  readonly score: number
  readonly document: unknown
  /** Host-specific members. */
  readonly rest: JsonObject
}

/**
 * A ranking in the common form: `results`, best first, limited to the requested number, with documents as objects where requested;
 * usage in the forms of both Jina and Cohere. Undefined without a ranking. Source: protocols notes 1.8, edge cases 229 to 231.
 */
export function writeRanking(reply: JsonObject, asked: JsonObject): JsonObject | undefined {
  const list = reply.results ?? reply.data
  if (!Array.isArray(list)) return undefined
  const documents = arrayAt(asked, 'documents')
  const isFilled = asked.return_documents === true
  const results = list
    .map(readResult)
    .filter((result) => result !== undefined)
    .sort((a, b) => b.score - a.score)
    .slice(0, topOf(asked) ?? list.length)
    .map(({ index, score, document, rest }) => {
      const shown = document ?? (isFilled ? documents[index] : undefined)
      return { ...rest, index, relevance_score: score, ...(shown === undefined ? {} : { document: asObject(shown) }) }
    })
  const { results: _, data, ...others } = reply
  return { ...others, results, ...(Array.isArray(data) ? { object: undefined } : {}), ...usageOf(reply) }
}

/** The requested number of results; `top_k` has the same meaning for Voyage and vLLM. */
export function topOf({ top_n, top_k }: JsonObject): number | undefined {
  const top = top_n ?? top_k
  return typeof top === 'number' && Number.isInteger(top) && top > 0 ? top : undefined
}

function readResult(entry: unknown): Result | undefined {
  if (!isObject(entry) || typeof entry.index !== 'number') return undefined
  const { index, relevance_score, score, document, ...rest } = entry
  const points = relevance_score ?? score
  return typeof points === 'number' ? { index, score: points, document: document ?? undefined, rest } : undefined
}

function asObject(document: unknown): unknown {
  return typeof document === 'string' ? { text: document } : document
}

/** Derives each count from the other if only one is reported. */
function usageOf(reply: JsonObject): JsonObject {
  const usage = objectAt(reply, 'usage')
  const meta = objectAt(reply, 'meta')
  const tokens = objectAt(meta ?? {}, 'tokens')
  const reported = countAt(usage, 'total_tokens') || countAt(usage, 'prompt_tokens') || countAt(tokens, 'input_tokens')
  if (reported === 0) return {}
  return {
    usage: usage?.total_tokens === undefined ? { ...usage, prompt_tokens: reported, total_tokens: reported } : usage,
    meta: tokens ? meta : { ...meta, tokens: { input_tokens: reported } },
  }
}

/** The documents of a request as texts; undefined if one is not a text, such as an image. */
export function plainDocuments(body: JsonObject): string[] | undefined {
  const texts = arrayAt(body, 'documents').map((document) =>
    typeof document === 'string'
      ? document
      : isObject(document) && typeof document.text === 'string'
        ? textAt(document, 'text')
        : undefined,
  )
  return texts.every((text) => text !== undefined) ? texts : undefined
}
