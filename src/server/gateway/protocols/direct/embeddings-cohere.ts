import { fail } from '../../../base/lib/failure.ts'
import { isObject, type JsonObject, objectAt } from '../wire-format.ts'
import { chunksOf } from './conversion.ts'
import { type EmbeddingHost, type EmbeddingRequest, reportedCount, sumOfTokens } from './embedding-forms.ts'
import { readVector } from './vectors.ts'

/** Cohere's embed, version 2. Source: protocols notes 2.8. */
export const cohereHost: EmbeddingHost = {
  to: 'cohere.embed',
  write: (ask, { upstreamModel: model }) => bodiesOf(ask, model).map((body) => ({ model, ...body, embedding_types: ['float'] })),
  read: readCohere,
}

/** The same models on Bedrock, which has the model in the URL. */
export const bedrockCohereHost: EmbeddingHost = {
  to: 'bedrock.cohere-embed',
  write: (ask, { upstreamModel }) => bodiesOf(ask, upstreamModel).map((body) => ({ ...body, embedding_types: ['float'] })),
  read: readCohere,
}

const textsMax = 96

function bodiesOf({ texts, task = '', dimensions }: EmbeddingRequest, model: string): JsonObject[] {
  if (dimensions !== undefined && /embed-.{0,80}v[123](\D|$)/.test(model))
    fail('untranslatable', { field: 'dimensions', reason: fixedLength })
  return chunksOf(texts, textsMax).map((some) => ({
    texts: some,
    input_type: purposes.get(task) ?? 'search_document',
    ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
  }))
}

const fixedLength = { zh: '该模型的向量维数固定', en: 'the vectors of this model have a fixed length' }

/** Cohere's models require a purpose. */
const purposes: ReadonlyMap<string, string> = new Map([
  ['RETRIEVAL_QUERY', 'search_query'],
  ['QUESTION_ANSWERING', 'search_query'],
  ['FACT_VERIFICATION', 'search_query'],
  ['CODE_RETRIEVAL_QUERY', 'search_query'],
  ['CLASSIFICATION', 'classification'],
  ['CLUSTERING', 'clustering'],
  ['SEMANTIC_SIMILARITY', 'clustering'],
])

/** `embeddings` is an object of lists by type, or a single list if no type was requested. */
function readCohere(replies: readonly JsonObject[]) {
  const lists = replies.map(({ embeddings }) => (isObject(embeddings) ? embeddings.float : embeddings))
  const rows = lists.flatMap((list) => (Array.isArray(list) ? list : [undefined]))
  const vectors = rows.map(readVector).filter((vector) => vector !== undefined)
  const counts = replies.map((reply) => reportedCount(objectAt(objectAt(reply, 'meta') ?? {}, 'billed_units')?.input_tokens))
  return vectors.length < rows.length ? undefined : { vectors, inputTokens: sumOfTokens(counts) }
}
