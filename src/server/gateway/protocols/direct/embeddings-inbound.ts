import type { Usage } from '../../../../contract/usage.ts'
import { promptTokens } from '../../../../contract/usage.ts'
import { fail } from '../../../base/lib/failure.ts'
import { textAt } from '../wire-format.ts'
import { loseAllBut } from './conversion.ts'
import type { EmbeddingCaller } from './embedding-forms.ts'
import { vectorToBase64 } from './vectors.ts'

/**
 * Embeddings as OpenAI has them, for upstreams of another form. Only the model's own vendor can read token numbers. Some clients send
 * the purpose of the vectors, under the names of other vendors. Source: protocols notes 1.4, edge cases 221, 222 and 225.
 */
export const openAiEmbeddingCaller: EmbeddingCaller = {
  from: 'openai.embeddings',

  read(asked) {
    const { body } = asked
    const { input, dimensions } = body
    const texts = Array.isArray(input) ? input : [input]
    if (!texts.every((text) => typeof text === 'string')) fail('untranslatable', { field: 'input', reason: textsOnly })
    loseAllBut(asked, ['model', 'input', 'dimensions', 'encoding_format', 'task_type', 'input_type'])
    return {
      texts,
      isList: Array.isArray(input),
      dimensions: typeof dimensions === 'number' ? dimensions : undefined,
      task: textAt(body, 'task_type').toUpperCase() || tasks.get(textAt(body, 'input_type')),
      taskField: body.task_type === undefined ? 'input_type' : 'task_type',
      titles: [],
    }
  },

  write({ vectors, inputTokens }, { body, model }) {
    const isBase64 = body.encoding_format === 'base64'
    return {
      object: 'list',
      data: vectors.map((vector, index) => ({
        object: 'embedding',
        index,
        embedding: isBase64 ? vectorToBase64(vector) : vector,
      })),
      model,
      ...(inputTokens === undefined ? {} : { usage: { prompt_tokens: inputTokens, total_tokens: inputTokens } }),
    }
  },

  writeUsage: (billed: Usage) => ({ usage: { prompt_tokens: promptTokens(billed), total_tokens: promptTokens(billed) } }),
}

const textsOnly = {
  zh: '该渠道只接受文本，不接受词元编号',
  en: 'the channel only takes texts, not token numbers',
}

/** Values of Cohere, Voyage and NVIDIA. */
const tasks: ReadonlyMap<string, string> = new Map([
  ['query', 'RETRIEVAL_QUERY'],
  ['search_query', 'RETRIEVAL_QUERY'],
  ['document', 'RETRIEVAL_DOCUMENT'],
  ['passage', 'RETRIEVAL_DOCUMENT'],
  ['search_document', 'RETRIEVAL_DOCUMENT'],
  ['classification', 'CLASSIFICATION'],
  ['clustering', 'CLUSTERING'],
])
