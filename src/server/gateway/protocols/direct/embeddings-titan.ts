import { fail } from '../../../base/lib/failure.ts'
import { type EmbeddingHost, reportedCount, sumOfTokens } from './embedding-forms.ts'
import { readVector } from './vectors.ts'

/** Amazon's Titan models on Bedrock: one text per call. Source: Bedrock's user guide, read 2026-11. */
export const titanHost: EmbeddingHost = {
  to: 'bedrock.titan-embed',

  write({ texts, task, taskField, titles, dimensions }, { upstreamModel, lose }) {
    if (dimensions !== undefined && !upstreamModel.includes('embed-text-v2'))
      fail('untranslatable', { field: 'dimensions', reason: fixedLength })
    if (task) lose(taskField)
    if (titles.length > 0) lose('title')
    return texts.map((inputText) => ({ inputText, ...(dimensions === undefined ? {} : { dimensions }) }))
  },

  read(replies) {
    const vectors = replies.map(({ embedding }) => readVector(embedding)).filter((vector) => vector !== undefined)
    const inputTokens = sumOfTokens(replies.map((reply) => reportedCount(reply.inputTextTokenCount)))
    return vectors.length < replies.length ? undefined : { vectors, inputTokens }
  },
}

const fixedLength = { zh: '该模型的向量维数固定', en: 'the vectors of this model have a fixed length' }
