import { arrayAt } from '../wire-format.ts'
import { type EmbeddingHost, reportedCount, sumOfTokens } from './embedding-forms.ts'
import { readVector } from './vectors.ts'

/** Ollama's own embed. Source: protocols notes 2.9, edge case 227. */
export const ollamaHost: EmbeddingHost = {
  to: 'ollama.embed',

  write({ texts, task, taskField, titles, dimensions }, { upstreamModel, lose }) {
    if (task) lose(taskField)
    if (titles.length > 0) lose('title')
    return [{ model: upstreamModel, input: texts, ...(dimensions === undefined ? {} : { dimensions }) }]
  },

  read(replies) {
    const rows = replies.flatMap((reply) => arrayAt(reply, 'embeddings'))
    const vectors = rows.map(readVector).filter((vector) => vector !== undefined)
    const inputTokens = sumOfTokens(replies.map((reply) => reportedCount(reply.prompt_eval_count)))
    return vectors.length < rows.length ? undefined : { vectors, inputTokens }
  },
}
