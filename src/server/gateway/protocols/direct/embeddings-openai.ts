import { arrayAt, isObject, objectAt } from '../wire-format.ts'
import { type EmbeddingHost, reportedCount, sumOfTokens } from './embedding-forms.ts'
import { readVector } from './vectors.ts'

/** OpenAI and compatible hosts, for callers of another format. It has no purpose parameter. Source: protocols notes 1.4. */
export const openAiEmbeddingHost: EmbeddingHost = {
  to: 'openai.embeddings',

  write({ texts, isList, dimensions, task, taskField, titles }, { upstreamModel, lose }) {
    if (task) lose(taskField)
    if (titles.length > 0) lose('title')
    return [
      {
        model: upstreamModel,
        input: isList ? texts : texts[0],
        encoding_format: 'float',
        ...(dimensions === undefined ? {} : { dimensions }),
      },
    ]
  },

  read(replies) {
    const entries = replies.flatMap((reply) => arrayAt(reply, 'data').filter(isObject))
    const sorted = entries
      .map((entry, at) => ({ place: typeof entry.index === 'number' ? entry.index : at, vector: readVector(entry.embedding) }))
      .sort((a, b) => a.place - b.place)
    const vectors = sorted.flatMap(({ vector }) => (vector ? [vector] : []))
    const counts = replies
      .map((reply) => objectAt(reply, 'usage'))
      .map((usage) => reportedCount(usage?.prompt_tokens ?? usage?.total_tokens))
    return vectors.length < entries.length ? undefined : { vectors, inputTokens: sumOfTokens(counts) }
  },
}
