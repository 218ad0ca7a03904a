import { isDeepStrictEqual } from 'node:util'
import { noUsage, type Usage } from '../../../../contract/usage.ts'
import { fail } from '../../../base/lib/failure.ts'
import { readModel, requireArray } from '../read-request.ts'
import { arrayAt, countAt, isObject, type JsonObject, objectAt, textAt, type WireFormat } from '../wire-format.ts'
import { directFacts } from './direct-facts.ts'
import { writeRanking } from './rerank-results.ts'

/** Rerank, as Cohere, Jina and the hosts that follow them have it. Source: protocols notes 1.8, read 2026-11. */
export const rerank: WireFormat = {
  format: 'rerank',
  dialect: 'openai',

  readRequest(body) {
    if (textAt(body, 'query') === '') fail('field_invalid', { field: 'query', reason: 'is required' })
    requireArray(body, 'documents')
    return directFacts(readModel(body), { most: mostRead(body), callsMax: unitsOf(body) })
  },

  promptText: (body) => [textAt(body, 'query'), ...documentTexts(body)],
  answerIn: 'results',
  isEmpty: (reply, asked) => arrayAt(reply, 'results').length === 0 && arrayAt(asked, 'documents').length > 0,
  mendReply: mendRanking,
  readUsage: (reply) => readRerankUsage(reply),
  replyText: () => '',
  stream: null,
}

/** The maximum input: a model reads the query again with each document. */
function mostRead(body: JsonObject): Usage {
  const documents = Array.isArray(body.documents) ? body.documents.length : 0
  const query = Buffer.byteLength(textAt(body, 'query')) + templateTokens
  return { ...noUsage, input: Buffer.byteLength(JSON.stringify(body.documents)) + documents * query }
}

const templateTokens = 16

const unitsMax = 1_000

/**
 * The maximum number of Cohere's search units: one for each hundred documents, of which a long one counts once for each 500 tokens.
 * Source: https://docs.cohere.com/docs/how-does-cohere-pricing-work, read 2026-11.
 */
function unitsOf({ query, documents }: JsonObject): number {
  const texts = Array.isArray(documents) ? documents : []
  const queryBytes = Buffer.byteLength(String(query))
  const pieces = texts.reduce<number>((sum, text) => {
    return sum + Math.ceil((queryBytes + Buffer.byteLength(typeof text === 'string' ? text : JSON.stringify(text))) / 500)
  }, 0)
  return Math.max(1, Math.ceil(pieces / 100))
}

/** The documents of a request as texts; an image is an empty text. */
function documentTexts(body: JsonObject): string[] {
  const documents = Array.isArray(body.documents) ? body.documents : []
  return documents.map((document) =>
    typeof document === 'string' ? document : isObject(document) ? textAt(document, 'text') : '',
  )
}

/** Undefined when the ranking already has the common form, so that its bytes are kept. Some hosts send the bare list. */
function mendRanking(reply: Buffer, asked: JsonObject): Buffer | undefined {
  const sent: unknown = JSON.parse(reply.toString('utf8', reply[0] === 0xef ? 3 : 0))
  const parsed = Array.isArray(sent) && isObject(sent[0]) ? { results: sent } : sent
  const ranking = isObject(parsed) ? writeRanking(parsed, asked) : undefined
  return ranking && !isDeepStrictEqual(ranking, sent) ? Buffer.from(JSON.stringify(ranking)) : undefined
}

/** Jina reports tokens, Cohere reports tokens and search units, each of which costs the price per call. */
function readRerankUsage(reply: JsonObject): Usage | undefined {
  const usage = objectAt(reply, 'usage')
  const meta = objectAt(reply, 'meta') ?? {}
  const tokens = objectAt(meta, 'tokens')
  const input = countAt(usage, 'total_tokens') || countAt(usage, 'prompt_tokens') || countAt(tokens, 'input_tokens')
  const units = countAt(objectAt(meta, 'billed_units'), 'search_units')
  if (input === 0 && units <= 1) return undefined
  return { ...noUsage, input, ...(units > 1 ? { calls: Math.min(units, unitsMax) } : {}) }
}
