import { defineFormat } from '../define-format.ts'
import { completionsTexts } from '../openai-chat/reply-texts.ts'
import { limitAt } from '../output-limit.ts'
import type { JsonObject } from '../wire-format.ts'
import { imagesByCloudflare, rerankByCloudflare, transcriptionsByCloudflare, translationsByCloudflare } from './cloudflare-run.ts'
import { openAiCompletions } from './completions.ts'
import { completionsInbound } from './completions-inbound.ts'
import { openAiDecisions, translatedBytes } from './decisions.ts'
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
export const openAiCompletionsFormat = defineFormat({
  name: 'openai.completions',
  wire: openAiCompletions,
  inbound: completionsInbound,
  outputLimit: limitAt(['max_tokens']),
  smallRequest: (model, max_tokens) => ({ model, prompt: 'hi', max_tokens }),
  optionalEndpoint: { name: 'completions' },
  texts: completionsTexts,
})

const embeddingCallers = [openAiEmbeddingCaller, geminiEmbedCaller, geminiBatchEmbedCaller]
const vectorsBy = (host: EmbeddingHost) => embeddingConversions(embeddingCallers, host)

export const openAiEmbeddingsFormat = defineFormat({
  name: 'openai.embeddings',
  wire: openAiEmbeddings,
  conversions: vectorsBy(openAiEmbeddingHost),
  smallRequest: (model) => ({ model, input: ['hello world'] }),
  optionalEndpoint: { name: 'embeddings' },
})

export const geminiEmbedFormat = defineFormat({
  name: 'gemini.embed',
  wire: geminiEmbed,
  conversions: vectorsBy(geminiHost),
})

export const geminiBatchEmbedFormat = defineFormat({
  name: 'gemini.batch_embed',
  wire: geminiBatchEmbed,
  conversions: vectorsBy(geminiBatchHost),
})

export const vertexEmbedFormat = defineFormat({ name: 'vertex.embed', conversions: vectorsBy(vertexHost) })
export const cohereEmbedFormat = defineFormat({ name: 'cohere.embed', conversions: vectorsBy(cohereHost) })
export const ollamaEmbedFormat = defineFormat({ name: 'ollama.embed', conversions: vectorsBy(ollamaHost) })

export const bedrockTitanEmbedFormat = defineFormat({
  name: 'bedrock.titan-embed',
  conversions: vectorsBy(titanHost),
})

export const bedrockCohereEmbedFormat = defineFormat({
  name: 'bedrock.cohere-embed',
  conversions: vectorsBy(bedrockCohereHost),
})

export const rerankFormat = defineFormat({
  name: 'rerank',
  wire: rerank,
  smallRequest: (model) => ({ model, query: 'hello', documents: ['hello world', 'goodbye'] }),
})

export const cohereRerankFormat = defineFormat({ name: 'cohere.rerank', conversions: [rerankByCohere] })
export const dashScopeRerankFormat = defineFormat({ name: 'dashscope.rerank', conversions: [rerankByDashScope] })
export const voyageRerankFormat = defineFormat({ name: 'voyage.rerank', conversions: [rerankByVoyage] })

export const openAiModerationsFormat = defineFormat({
  name: 'openai.moderations',
  wire: openAiModerations,
  smallRequest: (model) => ({ model, input: 'hello world' }),
})

export const openAiImagesFormat = defineFormat({
  name: 'openai.images',
  wire: openAiImages,
  smallRequest: (model) => ({ model, prompt: 'A red dot', ...smallestImage(model) }),
})

/** The cheapest image of OpenAI's models; other vendors have other sizes, and the usual one is left to them. */
function smallestImage(model: string): JsonObject {
  if (/dall-e-2/.test(model)) return { size: '256x256' }
  return /gpt-image/.test(model) ? { size: '1024x1024', quality: 'low' } : {}
}

/** Translated to formats with JSON answers, which list `decisionsBy`. */
export const openAiDecisionsFormat = defineFormat({
  name: 'openai.decisions',
  wire: openAiDecisions,
  bound: { addedBytes: translatedBytes },
  optionalEndpoint: { name: 'decisions' },
})

export const openAiImageEditsFormat = defineFormat({ name: 'openai.image-edits', wire: openAiImageEdits })

export const openAiImageVariationsFormat = defineFormat({
  name: 'openai.image-variations',
  wire: openAiImageVariations,
})

export const geminiPredictFormat = defineFormat({
  name: 'gemini.predict',
  wire: geminiPredict,
  conversions: [imagesByImagen],
})

export const dashScopeImagesFormat = defineFormat({
  name: 'dashscope.images',
  conversions: [imagesByDashScopeTask],
})

export const dashScopeImageMessagesFormat = defineFormat({
  name: 'dashscope.image-messages',
  conversions: [imagesByDashScope, imageEditsByDashScope],
})

export const siliconFlowImagesFormat = defineFormat({
  name: 'siliconflow.images',
  conversions: [imagesBySiliconFlow, imageEditsBySiliconFlow],
})

export const zhipuImagesFormat = defineFormat({ name: 'zhipu.images', conversions: [imagesByZhipu] })

export const volcEngineImagesFormat = defineFormat({
  name: 'volcengine.images',
  conversions: [imagesByVolcEngine, imageEditsByVolcEngine],
})

export const xaiImageEditsFormat = defineFormat({ name: 'xai.image-edits', conversions: [imageEditsByGrok] })
export const miniMaxImagesFormat = defineFormat({ name: 'minimax.images', conversions: [imagesByMiniMax] })
export const miniMaxSpeechFormat = defineFormat({ name: 'minimax.speech', conversions: [speechByMiniMax] })

export const openAiSpeechFormat = defineFormat({
  name: 'openai.speech',
  wire: openAiSpeech,
  // Voices of this model on hosts of OpenAI's interface have its name.
  smallRequest: (model) => ({ model, input: 'Hi', voice: /cosyvoice/i.test(model) ? `${model}:alex` : 'alloy' }),
})
export const openAiTranscriptionsFormat = defineFormat({
  name: 'openai.transcriptions',
  wire: openAiTranscriptions,
  smallRequest: (model) => ({ model }),
  takesRecording: true,
})
export const openAiTranslationsFormat = defineFormat({ name: 'openai.translations', wire: openAiTranslations })

export const cloudflareRunFormat = defineFormat({
  name: 'cloudflare.run',
  conversions: [rerankByCloudflare, imagesByCloudflare, transcriptionsByCloudflare, translationsByCloudflare],
})
