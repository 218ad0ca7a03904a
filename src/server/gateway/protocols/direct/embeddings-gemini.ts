import { arrayAt, isObject, type JsonObject, objectAt } from '../wire-format.ts'
import { chunksOf } from './conversion.ts'
import { type EmbeddingAnswer, type EmbeddingHost, type EmbeddingRequest, reportedCount, sumOfTokens } from './embedding-forms.ts'
import { readVector } from './vectors.ts'

/** Gemini for many texts at once. Source: protocols notes 1.13, edge case 226. */
export const geminiBatchHost: EmbeddingHost = {
  to: 'gemini.batch_embed',
  listsOnly: true,
  write: (ask, { upstreamModel }) =>
    chunksOf(
      ask.texts.map((_, at) => ({ model: resourceOf(upstreamModel), ...requestOf(ask, at) })),
      textsMax,
    ).map((requests) => ({ requests })),
  read: (replies) => answerOf(replies, (reply) => arrayAt(reply, 'embeddings')),
}

/** Gemini for one text; each text is a request. */
export const geminiHost: EmbeddingHost = {
  to: 'gemini.embed',
  write: (ask) => ask.texts.map((_, at) => requestOf(ask, at)),
  read: (replies) => answerOf(replies, (reply) => [reply.embedding]),
}

const textsMax = 100

function resourceOf(model: string): string {
  return /^(models|tunedModels)\//.test(model) ? model : `models/${model}`
}

function requestOf({ texts, titles, task, dimensions }: EmbeddingRequest, at: number): JsonObject {
  return {
    content: { parts: [{ text: texts[at] }] },
    ...(task ? { taskType: task } : {}),
    ...(titles[at] ? { title: titles[at] } : {}),
    ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }),
  }
}

function answerOf(
  replies: readonly JsonObject[],
  listIn: (reply: JsonObject) => readonly unknown[],
): EmbeddingAnswer | undefined {
  const vectors = replies.flatMap(listIn).map((embedding) => (isObject(embedding) ? readVector(embedding.values) : undefined))
  const present = vectors.filter((vector) => vector !== undefined)
  const counts = replies.map((reply) => reportedCount(objectAt(reply, 'usageMetadata')?.promptTokenCount))
  return present.length < vectors.length ? undefined : { vectors: present, inputTokens: sumOfTokens(counts) }
}
