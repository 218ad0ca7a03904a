import { anthropicCountTokensFormat, anthropicMessagesFormat } from './anthropic-messages/format.ts'
import { bedrockConverseFormat, bedrockCountTokensFormat } from './bedrock-converse/format.ts'
import { cohereChatFormat } from './cohere-chat/format.ts'
import { cozeChatFormat } from './coze-chat/format.ts'
import { dashScopeChatFormat } from './dashscope-chat/format.ts'
import type { Declarations, FormatDeclaration } from './define-format.ts'
import { difyChatFormat } from './dify-chat/format.ts'
import type { DirectConversion } from './direct/conversion.ts'
import * as direct from './direct/formats.ts'
import { ernieChatFormat } from './ernie-chat/format.ts'
import type { CallerFormat, Format } from './format.ts'
import { geminiCountTokensFormat, geminiGenerateFormat } from './gemini-generate/format.ts'
import { geminiInteractionsFormat } from './gemini-interactions/format.ts'
import { hunyuanChatFormat } from './hunyuan-chat/format.ts'
import { libraryAskFormat } from './library-ask/format.ts'
import { ollamaChatFormat } from './ollama-chat/format.ts'
import { openAiChatFormat } from './openai-chat/format.ts'
import { openAiCompactFormat, openAiInputTokensFormat, openAiResponsesFormat } from './openai-responses/format.ts'
import { palmMessageFormat } from './palm-message/format.ts'
import { replicatePredictFormat } from './replicate-predict/format.ts'
import { sparkChatFormat } from './spark-chat/format.ts'
import type { StoredForm } from './stored-form.ts'
import type { UpstreamCount } from './token-counts.ts'

/**
 * Every wire format. A new one is its folder and one line here. Where an upstream speaks several formats to which a call could be
 * translated, the first in this list is used: the most expressive ones come first.
 */
export const formats: Declarations = {
  'anthropic.messages': anthropicMessagesFormat,
  'gemini.generate': geminiGenerateFormat,
  'bedrock.converse': bedrockConverseFormat,
  'openai.chat': openAiChatFormat,
  'openai.responses': openAiResponsesFormat,
  'cohere.chat': cohereChatFormat,
  'ollama.chat': ollamaChatFormat,
  'dashscope.chat': dashScopeChatFormat,
  'hunyuan.chat': hunyuanChatFormat,
  'spark.chat': sparkChatFormat,
  'ernie.chat': ernieChatFormat,
  'dify.chat': difyChatFormat,
  'coze.chat': cozeChatFormat,
  'replicate.predict': replicatePredictFormat,
  'palm.message': palmMessageFormat,
  'library.ask': libraryAskFormat,

  'gemini.interactions': geminiInteractionsFormat,
  'anthropic.count_tokens': anthropicCountTokensFormat,
  'gemini.count_tokens': geminiCountTokensFormat,
  'openai.input_tokens': openAiInputTokensFormat,
  'bedrock.count_tokens': bedrockCountTokensFormat,
  'openai.compact': openAiCompactFormat,
  'openai.completions': direct.openAiCompletionsFormat,

  'gemini.batch_embed': direct.geminiBatchEmbedFormat,
  'gemini.embed': direct.geminiEmbedFormat,
  'vertex.embed': direct.vertexEmbedFormat,
  'cohere.embed': direct.cohereEmbedFormat,
  'ollama.embed': direct.ollamaEmbedFormat,
  'bedrock.titan-embed': direct.bedrockTitanEmbedFormat,
  'bedrock.cohere-embed': direct.bedrockCohereEmbedFormat,
  'openai.embeddings': direct.openAiEmbeddingsFormat,

  'cohere.rerank': direct.cohereRerankFormat,
  'dashscope.rerank': direct.dashScopeRerankFormat,
  'voyage.rerank': direct.voyageRerankFormat,
  rerank: direct.rerankFormat,

  'gemini.predict': direct.geminiPredictFormat,
  'dashscope.images': direct.dashScopeImagesFormat,
  'dashscope.image-messages': direct.dashScopeImageMessagesFormat,
  'siliconflow.images': direct.siliconFlowImagesFormat,
  'zhipu.images': direct.zhipuImagesFormat,
  'volcengine.images': direct.volcEngineImagesFormat,
  'xai.image-edits': direct.xaiImageEditsFormat,
  'minimax.images': direct.miniMaxImagesFormat,
  'openai.images': direct.openAiImagesFormat,
  'openai.image-edits': direct.openAiImageEditsFormat,
  'openai.image-variations': direct.openAiImageVariationsFormat,

  'minimax.speech': direct.miniMaxSpeechFormat,
  'openai.speech': direct.openAiSpeechFormat,
  'openai.transcriptions': direct.openAiTranscriptionsFormat,
  'openai.translations': direct.openAiTranslationsFormat,
  'openai.moderations': direct.openAiModerationsFormat,
  'openai.decisions': direct.openAiDecisionsFormat,
  'cloudflare.run': direct.cloudflareRunFormat,

  // What vendors store: `gateway/files` and `gateway/batches`.
  'openai.files': { name: 'openai.files', optionalEndpoint: { name: 'files' } },
  'openai.uploads': { name: 'openai.uploads', optionalEndpoint: { name: 'files', isPart: true } },
  'openai.batches': { name: 'openai.batches' },
  'anthropic.batches': { name: 'anthropic.batches' },
  'gemini.batches': { name: 'gemini.batches' },
  'anthropic.files': { name: 'anthropic.files', optionalEndpoint: { name: 'files' } },
  'gemini.files': { name: 'gemini.files', optionalEndpoint: { name: 'files' } },
  'gemini.uploads': { name: 'gemini.uploads', optionalEndpoint: { name: 'files', isPart: true } },

  // These have folders of their own: `relay/realtime` and `tasks`.
  'openai.realtime': { name: 'openai.realtime' },
  drawing: { name: 'drawing', isTask: true },
  music: { name: 'music', isTask: true },
  video: { name: 'video', isTask: true },
}

/** The declarations in their order. */
export const declarations: readonly FormatDeclaration[] = Object.values(formats)

/** The formats of conversations at upstreams, in order of preference. */
export const conversations: readonly Format[] = declarations.flatMap(({ name, codec }) => (codec ? [name] : []))

/** The conversions of calls that are not conversations. The first that matches is used. */
export const directConversions: readonly DirectConversion[] = declarations.flatMap(({ conversions = [] }) => conversions)

/** How answers of a caller's format are stored. */
export function storedFormOf(format: CallerFormat): StoredForm {
  const { stored } = formats[format]
  if (!stored) throw new Error(`Answers of ${format} are not stored`)
  return stored
}

/** The form of the stored answers with ids like this one, which this server has made; undefined for an id of a vendor. */
export function ownStoredForm(id: string): StoredForm | undefined {
  const [, prefix] = ownId.exec(id) ?? []
  return prefix === undefined ? undefined : storedForms.find(({ idPrefix }) => idPrefix === prefix)
}

const storedForms = declarations.flatMap(({ stored }) => (stored ? [stored] : []))
/** A request id follows. */
const ownId = /^([a-z]+_)\d{17}[0-9A-Za-z]{12}$/

/** The token counts of upstreams, each with the format that has it. The first that a channel speaks is used. */
export const upstreamCounts: readonly (UpstreamCount & { readonly format: Format })[] = declarations.flatMap(
  ({ name, upstreamCounts = [] }) => upstreamCounts.map((count) => ({ ...count, format: name })),
)

/** Whether callers speak a format in requests over HTTP. */
export function isCallerFormat(format: Format): format is CallerFormat {
  return formats[format].wire !== undefined
}
