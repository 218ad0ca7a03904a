import { noUsage, promptTokens } from '../../../../contract/usage.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { CallerFormat } from '../format.ts'
import { either, eitherList, eitherObject, refuseTwoSpellings } from '../gemini-generate/members.ts'
import { readModel, requireArray } from '../read-request.ts'
import { arrayAt, countAt, isObject, type JsonObject, objectAt, textAt, type WireFormat } from '../wire-format.ts'
import { directFacts } from './direct-facts.ts'
import type { EmbeddingCaller, EmbeddingRequest } from './embedding-forms.ts'

/**
 * Gemini embedContent and batchEmbedContents. The model is in the path; the requests of a batch repeat it. Source: reference of the
 * Gemini API and protocols notes 1.13, read 2026-11.
 */
const embedFormat = (format: CallerFormat, requestsOf: (body: JsonObject) => readonly JsonObject[]): WireFormat => ({
  format,
  dialect: 'gemini',

  readRequest(body, path) {
    refuseTwoSpellings(body)
    const requests = requestsOf(body)
    if (!requests.every(({ content }) => isObject(content))) fail('field_invalid', { field: 'content', reason: 'is required' })
    const media = requests.flatMap(partsOf).filter((part) => either(part, 'inlineData') || either(part, 'fileData'))
    return directFacts(readModel(path?.model === undefined ? body : { model: path.model }), { mediaParts: media.length })
  },

  promptText: (body) => requestsOf(body).map(textOf),
  answerIn: 'embeddings',
  answersWithout: 'embedding',
  isEmpty(reply, asked) {
    const vectors = [...arrayAt(reply, 'embeddings'), ...(isObject(reply.embedding) ? [reply.embedding] : [])]
    const isVector = (vector: unknown) => isObject(vector) && arrayAt(vector, 'values').length > 0
    return vectors.filter(isVector).length < requestsOf(asked).length
  },
  replyModelIn: 'modelVersion',
  readUsage(reply) {
    const input = countAt(objectAt(reply, 'usageMetadata'), 'promptTokenCount')
    return input === 0 ? undefined : { ...noUsage, input }
  },
  replyText: () => '',
  stream: null,
})

export const geminiEmbed = embedFormat('gemini.embed', (body) => [body])
export const geminiBatchEmbed = embedFormat('gemini.batch_embed', (body) => requireArray(body, 'requests').filter(isObject))

/** The callers' side of the conversion to upstreams of another format. */
export const geminiEmbedCaller: EmbeddingCaller = {
  from: 'gemini.embed',
  read: ({ body }) => askOf([body], false),
  write: ({ vectors, inputTokens }) => ({ embedding: { values: vectors[0] ?? [] }, ...usageOf(inputTokens) }),
  writeUsage: (billed) => usageOf(promptTokens(billed)),
}

export const geminiBatchEmbedCaller: EmbeddingCaller = {
  from: 'gemini.batch_embed',
  read: ({ body }) => askOf(arrayAt(body, 'requests').filter(isObject), true),
  write: ({ vectors, inputTokens }) => ({ embeddings: vectors.map((values) => ({ values })), ...usageOf(inputTokens) }),
  writeUsage: (billed) => usageOf(promptTokens(billed)),
}

/** The requests of a batch must have the same purpose and dimensions, because an upstream request has one of each for all texts. */
function askOf(requests: readonly JsonObject[], isList: boolean): EmbeddingRequest {
  if (requests.flatMap(partsOf).some((part) => typeof part.text !== 'string'))
    fail('untranslatable', { field: 'content', reason: { zh: '该渠道只接受文本', en: 'the channel only takes texts' } })
  const tasks = new Set(requests.map((request) => optionOf(request, 'taskType')))
  const lengths = new Set(requests.map((request) => optionOf(request, 'outputDimensionality')))
  if (tasks.size > 1 || lengths.size > 1)
    fail('untranslatable', { field: tasks.size > 1 ? 'taskType' : 'outputDimensionality', reason: sameForAll })

  const [task] = tasks
  const [dimensions] = lengths
  const titles = requests.map((request) => optionOf(request, 'title')).map((title) => (typeof title === 'string' ? title : ''))
  return {
    texts: requests.map(textOf),
    isList,
    dimensions: typeof dimensions === 'number' ? dimensions : undefined,
    task: typeof task === 'string' && task !== 'TASK_TYPE_UNSPECIFIED' ? task : undefined,
    taskField: 'taskType',
    titles: titles.some((title) => title !== '') ? titles : [],
  }
}

const sameForAll = {
  zh: '该渠道要求一次请求中各项一致',
  en: 'the channel wants it to be the same throughout a request',
}

/** Newer models have these options in `embedContentConfig`. */
function optionOf(request: JsonObject, key: string): unknown {
  return either(request, key) ?? either(eitherObject(request, 'embedContentConfig') ?? {}, key)
}

function partsOf(request: JsonObject): readonly JsonObject[] {
  return eitherList(objectAt(request, 'content') ?? {}, 'parts').filter(isObject)
}

function textOf(request: JsonObject): string {
  return partsOf(request)
    .map((part) => textAt(part, 'text'))
    .join('\n')
}

function usageOf(inputTokens: number | undefined): JsonObject {
  return inputTokens === undefined ? {} : { usageMetadata: { promptTokenCount: inputTokens, totalTokenCount: inputTokens } }
}
