import { arrayAt, isObject, type JsonObject, objectAt } from '../wire-format.ts'
import { chunksOf } from './conversion.ts'
import { type EmbeddingHost, reportedCount, sumOfTokens } from './embedding-forms.ts'
import { readVector } from './vectors.ts'

/** Vertex AI's `:predict`. Gemini's model accepts one text per call, older models many. Source: protocols notes 2.6. */
export const vertexHost: EmbeddingHost = {
  to: 'vertex.embed',

  write({ texts, titles, task, dimensions }, { upstreamModel }) {
    const instances = texts.map((content, at) => ({
      content,
      ...(task ? { task_type: task } : {}),
      ...(titles[at] ? { title: titles[at] } : {}),
    }))
    return chunksOf(instances, upstreamModel.includes('gemini-embedding') ? 1 : textsMax).map((some) => ({
      instances: some,
      ...(dimensions === undefined ? {} : { parameters: { outputDimensionality: dimensions } }),
    }))
  },

  read(replies) {
    const embeddings = replies.flatMap((reply) => arrayAt(reply, 'predictions')).map(embeddingsOf)
    const vectors = embeddings.map(({ values }) => readVector(values)).filter((vector) => vector !== undefined)
    const counts = embeddings.map((embedding) => reportedCount(objectAt(embedding, 'statistics')?.token_count))
    return vectors.length < embeddings.length ? undefined : { vectors, inputTokens: sumOfTokens(counts) }
  },
}

const textsMax = 250

function embeddingsOf(prediction: unknown): JsonObject {
  return (isObject(prediction) && objectAt(prediction, 'embeddings')) || {}
}
