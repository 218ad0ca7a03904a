import type { FormatDeclaration } from '../declaration.ts'
import { completionsTexts } from '../openai-chat/reply-texts.ts'
import { limitAt } from '../output-limit.ts'
import { imagesByCloudflare, rerankByCloudflare, transcriptionsByCloudflare, translationsByCloudflare } from './cloudflare-run.ts'
import { openAiCompletions } from './completions.ts'
import { completionsInbound } from './completions-inbound.ts'
import { type EmbeddingHost, embeddingConversions } from './embedding-forms.ts'
import { openAiEmbeddings } from './embeddings.ts'
import { bedrockCohereHost, cohereHost } from './embeddings-cohere.ts'
import { geminiBatchHost, geminiHost } from './embeddings-gemini.ts'
import { openAiEmbeddingCaller } from './embeddings-inbound.ts'
import { ollamaHost } from './embeddings-ollama.ts'
import { openAiEmbeddingHost } from './embeddings-openai.ts'
import { titanHost } from './embeddings-titan.ts'
import { vertexHost } from './embeddings-vertex.ts'
import { geminiBatchEmbed, geminiBatchEmbedCaller, geminiEmbed, geminiEmbedCaller } from './gemini-embed.ts'
import { geminiPredict } from './gemini-predict.ts'
import { openAiImageEdits, openAiImages, openAiImageVariations } from './images.ts'
import { imageEditsByDashScope, imagesByDashScope, imagesByDashScopeTask } from './images-dashscope.ts'
import { imagesByImagen } from './images-imagen.ts'
import { imageEditsBySiliconFlow, imagesBySiliconFlow } from './images-siliconflow.ts'
import { imageEditsByVolcEngine, imagesByVolcEngine } from './images-volcengine.ts'
import { imageEditsByGrok } from './images-xai.ts'
import { imagesByZhipu } from './images-zhipu.ts'
import { imagesByMiniMax, speechByMiniMax } from './minimax.ts'
import { openAiModerations } from './moderations.ts'
import { rerank } from './rerank.ts'
import { rerankByCohere, rerankByDashScope, rerankByVoyage } from './rerank-conversions.ts'
import { openAiSpeech } from './speech.ts'
import { openAiTranscriptions, openAiTranslations } from './transcriptions.ts'

/** Formats of one call and its reply, without a conversation: text, vectors, rankings, images and sound. */

/** Legacy Completions, the only one of them that is also translated: the prompt becomes a conversation of one message. */
export const openAiCompletionsFormat = {
  name: 'openai.completions',
  wire: openAiCompletions,
  inbound: completionsInbound,
  outputLimit: limitAt(['max_tokens']),
  smallRequest: (model, max_tokens) => ({ model, prompt: 'hi', max_tokens }),
  optionalEndpoint: { name: 'completions' },
  texts: completionsTexts,
} satisfies FormatDeclaration

const embeddingCallers = [openAiEmbeddingCaller, geminiEmbedCaller, geminiBatchEmbedCaller]
const vectorsBy = (host: EmbeddingHost) => embeddingConversions(embeddingCallers, host)

export const openAiEmbeddingsFormat = {
  name: 'openai.embeddings',
  wire: openAiEmbeddings,
  conversions: vectorsBy(openAiEmbeddingHost),
  smallRequest: (model) => ({ model, input: ['hello world'] }),
  optionalEndpoint: { name: 'embeddings' },
} satisfies FormatDeclaration

export const geminiEmbedFormat = {
  name: 'gemini.embed',
  wire: geminiEmbed,
  conversions: vectorsBy(geminiHost),
} satisfies FormatDeclaration

export const geminiBatchEmbedFormat = {
  name: 'gemini.batch_embed',
  wire: geminiBatchEmbed,
  conversions: vectorsBy(geminiBatchHost),
} satisfies FormatDeclaration

export const vertexEmbedFormat = { name: 'vertex.embed', conversions: vectorsBy(vertexHost) } satisfies FormatDeclaration
export const cohereEmbedFormat = { name: 'cohere.embed', conversions: vectorsBy(cohereHost) } satisfies FormatDeclaration
export const ollamaEmbedFormat = { name: 'ollama.embed', conversions: vectorsBy(ollamaHost) } satisfies FormatDeclaration

export const bedrockTitanEmbedFormat = {
  name: 'bedrock.titan-embed',
  conversions: vectorsBy(titanHost),
} satisfies FormatDeclaration

export const bedrockCohereEmbedFormat = {
  name: 'bedrock.cohere-embed',
  conversions: vectorsBy(bedrockCohereHost),
} satisfies FormatDeclaration

export const rerankFormat = {
  name: 'rerank',
  wire: rerank,
  smallRequest: (model) => ({ model, query: 'hello', documents: ['hello world', 'goodbye'] }),
} satisfies FormatDeclaration

export const cohereRerankFormat = { name: 'cohere.rerank', conversions: [rerankByCohere] } satisfies FormatDeclaration
export const dashScopeRerankFormat = { name: 'dashscope.rerank', conversions: [rerankByDashScope] } satisfies FormatDeclaration
export const voyageRerankFormat = { name: 'voyage.rerank', conversions: [rerankByVoyage] } satisfies FormatDeclaration

export const openAiModerationsFormat = {
  name: 'openai.moderations',
  wire: openAiModerations,
  smallRequest: (model) => ({ model, input: 'hello world' }),
} satisfies FormatDeclaration

export const openAiImagesFormat = { name: 'openai.images', wire: openAiImages } satisfies FormatDeclaration
export const openAiImageEditsFormat = { name: 'openai.image-edits', wire: openAiImageEdits } satisfies FormatDeclaration

export const openAiImageVariationsFormat = {
  name: 'openai.image-variations',
  wire: openAiImageVariations,
} satisfies FormatDeclaration

export const geminiPredictFormat = {
  name: 'gemini.predict',
  wire: geminiPredict,
  conversions: [imagesByImagen],
} satisfies FormatDeclaration

export const dashScopeImagesFormat = {
  name: 'dashscope.images',
  conversions: [imagesByDashScopeTask],
} satisfies FormatDeclaration

export const dashScopeImageMessagesFormat = {
  name: 'dashscope.image-messages',
  conversions: [imagesByDashScope, imageEditsByDashScope],
} satisfies FormatDeclaration

export const siliconFlowImagesFormat = {
  name: 'siliconflow.images',
  conversions: [imagesBySiliconFlow, imageEditsBySiliconFlow],
} satisfies FormatDeclaration

export const zhipuImagesFormat = { name: 'zhipu.images', conversions: [imagesByZhipu] } satisfies FormatDeclaration

export const volcEngineImagesFormat = {
  name: 'volcengine.images',
  conversions: [imagesByVolcEngine, imageEditsByVolcEngine],
} satisfies FormatDeclaration

export const xaiImageEditsFormat = { name: 'xai.image-edits', conversions: [imageEditsByGrok] } satisfies FormatDeclaration
export const miniMaxImagesFormat = { name: 'minimax.images', conversions: [imagesByMiniMax] } satisfies FormatDeclaration
export const miniMaxSpeechFormat = { name: 'minimax.speech', conversions: [speechByMiniMax] } satisfies FormatDeclaration

export const openAiSpeechFormat = { name: 'openai.speech', wire: openAiSpeech } satisfies FormatDeclaration
export const openAiTranscriptionsFormat = {
  name: 'openai.transcriptions',
  wire: openAiTranscriptions,
} satisfies FormatDeclaration
export const openAiTranslationsFormat = { name: 'openai.translations', wire: openAiTranslations } satisfies FormatDeclaration

export const cloudflareRunFormat = {
  name: 'cloudflare.run',
  conversions: [rerankByCloudflare, imagesByCloudflare, transcriptionsByCloudflare, translationsByCloudflare],
} satisfies FormatDeclaration
