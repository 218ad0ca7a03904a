import { promptTokens } from '../../../../contract/usage.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { Format } from '../format.ts'
import { type JsonObject, objectAt } from '../wire-format.ts'
import { type CallerRequest, type DirectConversion, loseAllBut, refused } from './conversion.ts'
import { plainDocuments, topOf, writeRanking } from './rerank-results.ts'

/** Cohere's version 2: texts only, and documents are not returned. Source: protocols notes 1.8, edge case 230. */
export const rerankByCohere = rerankBy('cohere.rerank', {
  carried: ['max_tokens_per_doc'],
  write: ({ documents, top, asked: { body, upstreamModel } }) => ({
    model: upstreamModel,
    query: body.query,
    documents,
    ...(top === undefined ? {} : { top_n: top }),
    ...(body.max_tokens_per_doc === undefined ? {} : { max_tokens_per_doc: body.max_tokens_per_doc }),
  }),
  read: (reply) => reply,
})

/** Alibaba's own form. Source: protocols notes 2.14. */
export const rerankByDashScope = rerankBy('dashscope.rerank', {
  carried: [],
  write: ({ documents, top, asked: { body, upstreamModel } }) => ({
    model: upstreamModel,
    input: { query: body.query, documents },
    parameters: { ...(top === undefined ? {} : { top_n: top }), return_documents: false },
  }),
  read: (reply) => ({
    id: reply.request_id,
    results: objectAt(reply, 'output')?.results,
    usage: reply.usage,
  }),
})

/** Voyage's members. Source: reference of its interface, read 2026-11. */
export const rerankByVoyage = rerankBy('voyage.rerank', {
  carried: ['truncation'],
  write: ({ documents, top, asked: { body, upstreamModel } }) => ({
    model: upstreamModel,
    query: body.query,
    documents,
    ...(top === undefined ? {} : { top_k: top }),
    ...(body.truncation === undefined ? {} : { truncation: body.truncation }),
  }),
  read: (reply) => reply,
})

interface Host {
  /** Supported members in addition to those of all vendors. */
  readonly carried: readonly string[]
  write(ask: { documents: readonly string[]; top: number | undefined; asked: CallerRequest }): JsonObject
  /** The reply with its ranking at the top level. */
  read(reply: JsonObject): JsonObject
}

function rerankBy(to: Format, host: Host): DirectConversion {
  return {
    from: 'rerank',
    to,
    convert(asked) {
      const { body, model } = asked
      const documents = plainDocuments(body)
      if (!documents) fail('untranslatable', { field: 'documents', reason: textsOnly })
      loseAllBut(asked, [...known, ...host.carried])
      const top = topOf(body)
      const most = top === undefined ? undefined : Math.min(top, documents.length)
      return {
        requests: [{ json: host.write({ documents, top: most, asked }) }],
        read([reply = {}]) {
          const ranking = writeRanking(host.read(reply), body)
          return ranking ? { kind: 'json', body: { ...ranking, model } } : refused('the answer holds no ranking')
        },
        writeUsage: (billed) => ({ usage: { prompt_tokens: promptTokens(billed), total_tokens: promptTokens(billed) } }),
      }
    },
  }
}

const known = ['model', 'query', 'documents', 'top_n', 'top_k', 'return_documents']
const textsOnly = { zh: '该渠道只接受文本', en: 'the channel only takes texts' }
